/// The key a record is stored under: the text of its id, as JavaScript's objects have it, so that `1` and `"1"` find the
/// same record.
enum RecordKey: Hashable, Sendable {
    /// The text of an integer that JavaScript lists in ascending order, before all other keys.
    case index(UInt32)
    /// Any other text, kept apart by its code units.
    case name(ExactString)

    /// The greatest number that counts as an index; the one above is the length of the longest array.
    private static let greatestIndex = UInt32.max - 1

    init(_ id: ServiceID) {
        switch id {
        case .integer(let integer):
            self = UInt32(exactly: integer).flatMap(Self.init(index:)) ?? .name(ExactString(String(integer)))
        case .number(let number):
            self = UInt32(exactly: number).flatMap(Self.init(index:)) ?? .name(ExactString(id.description))
        case .string(let string):
            self = Self.index(in: string).flatMap(Self.init(index:)) ?? .name(ExactString(string))
        }
    }

    private init?(index: UInt32) {
        guard index <= Self.greatestIndex else { return nil }
        self = .index(index)
    }

    /// The number behind a text that is exactly what the number is written as: "7", but neither "07" nor "+7".
    private static func index(in text: String) -> UInt32? {
        let digits = text.utf8
        guard let first = digits.first, digits.count <= 10, first != UInt8(ascii: "0") || digits.count == 1 else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return UInt32(exactly: value)
    }
}
