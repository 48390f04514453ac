extension JSONValue {
    /// Whether the value may have lost digits on its way into JSON: a time, or a number that is not whole.
    package var mayBeRounded: Bool {
        switch self {
        case .number, .decimal: true
        case .string(let text): text.startsWithDate
        case .integer, .bool, .null, .array, .object: false
        }
    }
}

extension String {
    /// Whether the text begins with a year and a hyphen.
    package var startsWithDate: Bool {
        let start = utf8.prefix(5)
        return start.count == 5 && start.last == UInt8(ascii: "-")
            && start.dropLast().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
