/// The result of one benchmark.
struct Measurement {
    let group: String
    let name: String
    /// Nanoseconds per operation, the median of the rounds.
    let nanoseconds: Double
    /// Nanoseconds of processor time per operation, for all threads of the process.
    let cpuNanoseconds: Double
    let reference: String?
    /// The speed relative to the reference; above 1 is faster.
    let ratio: Double?
    /// The reference's processor time divided by this benchmark's; above 1 is cheaper.
    let cpuRatio: Double?

    var perSecond: Double { 1e9 / nanoseconds }
}

extension Measurement: Codable {
    private enum CodingKeys: String, CodingKey {
        case group, name, ratio, cpuRatio, perSecond
        case nanoseconds = "nanosecondsPerOperation"
        case cpuNanoseconds = "cpuNanosecondsPerOperation"
        case reference = "comparedWith"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        group = try values.decode(String.self, forKey: .group)
        name = try values.decode(String.self, forKey: .name)
        nanoseconds = try values.decode(Double.self, forKey: .nanoseconds)
        cpuNanoseconds = try values.decode(Double.self, forKey: .cpuNanoseconds)
        reference = try values.decodeIfPresent(String.self, forKey: .reference)
        ratio = try values.decodeIfPresent(Double.self, forKey: .ratio)
        cpuRatio = try values.decodeIfPresent(Double.self, forKey: .cpuRatio)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(group, forKey: .group)
        try values.encode(name, forKey: .name)
        try values.encode(nanoseconds.rounded(places: 1), forKey: .nanoseconds)
        try values.encode(cpuNanoseconds.rounded(places: 1), forKey: .cpuNanoseconds)
        try values.encode(perSecond.rounded(places: 1), forKey: .perSecond)
        try values.encodeIfPresent(reference, forKey: .reference)
        try values.encodeIfPresent(ratio?.rounded(places: 4), forKey: .ratio)
        try values.encodeIfPresent(cpuRatio?.rounded(places: 4), forKey: .cpuRatio)
    }
}
