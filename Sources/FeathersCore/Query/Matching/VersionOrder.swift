extension JSONValue {
    /// Compares two values of a property that only grows: numbers, dates, or other text. Returns a negative number,
    /// zero or a positive number; nil if the values do not tell.
    ///
    /// Dates are compared as moments, see ``QueryDate``. Dates in different forms that are less than a second apart do
    /// not tell, because one form may round. Text of digits only is compared as a number, and other text only if both
    /// have the same length, because `v10` is shorter than `v9` in no order.
    package func versionOrder(to other: JSONValue) -> Int? {
        if let order = numericOrder(to: other) { return order }
        switch (QueryDate(self), QueryDate(other)) {
        case (.moment(let left), .moment(let right)): return momentOrder(left, to: other, right)
        case (.unknown, .unknown): return textOrder(to: other)
        default: return nil
        }
    }

    private func momentOrder(_ moment: Double, to other: JSONValue, _ otherMoment: Double) -> Int? {
        guard case .string(let left) = self, case .string(let right) = other, left.utf8.count == right.utf8.count else {
            guard abs(moment - otherMoment) >= 1000 else { return nil }
            return moment < otherMoment ? -1 : 1
        }
        if moment != otherMoment { return moment < otherMoment ? -1 : 1 }
        // Text in UTC also compares digits beyond a `Double`.
        let utcMark = UInt8(ascii: "Z")
        return left.utf8.last == utcMark && right.utf8.last == utcMark ? left.codeUnitOrder(to: right) : 0
    }

    private func textOrder(to other: JSONValue) -> Int? {
        guard case .string(let left) = self, case .string(let right) = other else { return nil }
        if let digits = left.significantDigits, let otherDigits = right.significantDigits {
            return digits.count == otherDigits.count
                ? String(digits).codeUnitOrder(to: String(otherDigits)) : digits.count - otherDigits.count
        }
        return left.utf8.count == right.utf8.count ? left.codeUnitOrder(to: right) : nil
    }
}

extension String {
    /// The digits of text that consists of nothing else, without leading zeros; nil for other text.
    fileprivate var significantDigits: Substring? {
        let isNumber = !isEmpty && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isNumber ? drop { $0 == "0" } : nil
    }
}
