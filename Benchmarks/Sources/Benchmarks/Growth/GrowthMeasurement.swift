import Foundation

/// What a unit costs at 1, 10 and 100 times as many.
struct GrowthMeasurement: Codable {
    struct Point: Codable {
        let size: Int
        /// Nanoseconds a unit, the median of the rounds.
        let nanoseconds: Double
        /// Nanoseconds of processor time a unit, of all threads of the process together.
        let cpuNanoseconds: Double
    }

    let group: String
    let name: String
    let unit: String
    /// Why it grows, where that is known.
    let note: String?
    let points: [Point]

    /// How many times as much a unit costs at ten times as many, for each step; 1 where the cost is linear. Of processor time, which is
    /// the same on a busy machine.
    var factors: [Double] { zip(points, points.dropFirst()).map { $1.cpuNanoseconds / $0.cpuNanoseconds } }

    /// How many times as much a unit costs at a hundred times as many.
    var total: Double { factors.reduce(1, *) }

    var sizesInWords: String { points.map { Double($0.size) }.map { $0 < 100 ? "\(Int($0))" : $0.grouped }.joined(separator: " ") }

    /// The exponent of the whole cost in the last decade: 1 where it is linear, 2 where it is quadratic.
    var exponent: Double { 1 + log10(factors.last ?? 1) }

    /// Whether the last decade is linear, but for what processors and noise do: what is paid once makes a unit dearer where there are few.
    var isLinear: Bool { (factors.last ?? 1) < 1.5 }

    var verdict: String {
        let exponent = String(format: "n^%.2f", exponent)
        return isLinear ? "linear, \(exponent)" : "not linear, \(exponent)\(note.map { ": \($0)" } ?? "")"
    }
}
