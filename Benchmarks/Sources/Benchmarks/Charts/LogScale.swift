import Foundation

/// Where a number stands on an axis on which equal factors are equal distances.
struct LogScale {
    let range: ClosedRange<Double>
    /// The places of the range's ends.
    let from: Double
    let to: Double

    func callAsFunction(_ number: Double) -> Double {
        let share = log10(number / range.lowerBound) / log10(range.upperBound / range.lowerBound)
        return from + (to - from) * share
    }

    /// The round numbers within the range.
    func marks(_ steps: [Double]) -> [Double] {
        (-4...6).flatMap { exponent in steps.map { $0 * pow(10, Double(exponent)) } }.filter { range.contains($0) }
    }
}
