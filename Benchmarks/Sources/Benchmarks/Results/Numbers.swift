import Foundation

extension Double {
    /// Returns the number rounded to this number of decimals.
    func rounded(places: Int) -> Double {
        let scale = pow(10, Double(places))
        return (self * scale).rounded() / scale
    }

    /// The number with thousands separators; with one decimal below 100.
    var grouped: String {
        guard self >= 100 else { return String(format: "%.1f", self) }
        var digits = String(Int(rounded()))
        var position = digits.count - 3
        while position > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: position))
            position -= 3
        }
        return digits
    }

    /// The number as a factor with its significant digits, for example 1.25×.
    var times: String {
        switch self {
        case ..<0.0995: String(format: "%.3f×", self)
        case ..<1.995: String(format: "%.2f×", self)
        case ..<9.95: String(format: "%.1f×", self)
        case ..<100: String(format: "%.0f×", self)
        default: "\(grouped)×"
        }
    }

    /// This number of nanoseconds in a suitable unit.
    var nanosecondsInWords: String {
        switch self {
        case ..<999.5: String(format: self < 99.5 ? "%.1f ns" : "%.0f ns", self)
        case ..<999_500: String(format: self < 99_500 ? "%.1f µs" : "%.0f µs", self / 1e3)
        default: String(format: self < 99_500_000 ? "%.1f ms" : "%.0f ms", self / 1e6)
        }
    }
}
