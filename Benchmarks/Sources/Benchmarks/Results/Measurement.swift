/// The result of one benchmark.
struct Measurement: Codable {
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

    private enum CodingKeys: String, CodingKey {
        case group, name, ratio, cpuRatio
        case nanoseconds = "nanosecondsPerOperation"
        case cpuNanoseconds = "cpuNanosecondsPerOperation"
        case reference = "comparedWith"
    }
}
