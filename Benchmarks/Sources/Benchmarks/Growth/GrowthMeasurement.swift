import Foundation

/// The cost per unit at 1, 10 and 100 times the count.
struct GrowthMeasurement: Codable {
    struct Point: Codable {
        let size: Int
        /// Nanoseconds per unit, the median of the rounds.
        let nanoseconds: Double
        /// Nanoseconds of processor time per unit, for all threads of the process.
        let cpuNanoseconds: Double
    }

    let group: String
    let name: String
    let unit: String
    /// The reason for the growth, if known.
    let note: String?
    let points: [Point]

    /// The factors by which the cost per unit grows at each step; 1 if the total cost is linear. Based on processor
    /// time, which other load doesn't affect.
    var factors: [Double] { zip(points, points.dropFirst()).map { $1.cpuNanoseconds / $0.cpuNanoseconds } }

    /// The factor by which the cost per unit grows from 1× to 100×.
    var total: Double { factors.reduce(1, *) }

    var sizesInWords: String {
        points.map { Double($0.size) }.map { $0 < 100 ? "\(Int($0))" : $0.grouped }.joined(separator: " ")
    }

    /// The exponent of the total cost in the last decade: 1 if it is linear, 2 if it is quadratic.
    var exponent: Double { 1 + log10(factors.last ?? 1) }

    /// Whether the last decade is linear, with a tolerance for caches and noise. Fixed costs distort lower counts.
    var isLinear: Bool { (factors.last ?? 1) < 1.5 }

    var verdict: String {
        let exponent = String(format: "n^%.2f", exponent)
        return isLinear ? "linear, \(exponent)" : "not linear, \(exponent)\(note.map { ": \($0)" } ?? "")"
    }
}
