import Foundation

/// A logarithmic axis.
struct LogScale {
    let range: ClosedRange<Double>
    /// The coordinate of the range's lower bound; ``to`` is that of the upper bound.
    let from: Double
    let to: Double

    func callAsFunction(_ number: Double) -> Double {
        let share = log10(number / range.lowerBound) / log10(range.upperBound / range.lowerBound)
        return from + (to - from) * share
    }

    /// Returns the multiples of powers of ten within the range.
    func marks(_ steps: [Double]) -> [Double] {
        (-4...6).flatMap { exponent in steps.map { $0 * pow(10, Double(exponent)) } }.filter { range.contains($0) }
    }
}
