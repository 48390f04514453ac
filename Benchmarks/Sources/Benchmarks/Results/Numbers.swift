import Foundation

extension Double {
    /// Rounded to so many decimals, as it is kept.
    func rounded(places: Int) -> Double {
        let scale = pow(10, Double(places))
        return (self * scale).rounded() / scale
    }

    /// With the thousands set apart; small ones keep a decimal.
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

    /// How many times as much, with as many digits as say something.
    var times: String {
        switch self {
        case ..<0.0995: String(format: "%.3f×", self)
        case ..<1.995: String(format: "%.2f×", self)
        case ..<9.95: String(format: "%.1f×", self)
        case ..<100: String(format: "%.0f×", self)
        default: "\(grouped)×"
        }
    }

    /// Nanoseconds in the unit that suits them.
    var nanosecondsInWords: String {
        switch self {
        case ..<999.5: String(format: self < 99.5 ? "%.1f ns" : "%.0f ns", self)
        case ..<999_500: String(format: self < 99_500 ? "%.1f µs" : "%.0f µs", self / 1e3)
        default: String(format: self < 99_500_000 ? "%.1f ms" : "%.0f ms", self / 1e6)
        }
    }
}
