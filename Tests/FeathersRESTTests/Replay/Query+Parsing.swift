import FeathersCore

extension Query {
    /// Parses a query string as `qs` does: every value is a string, and numbered keys become arrays.
    ///
    /// It has no limits, and an object whose numbered keys do not count up from 0 remains an object, so that writing
    /// the query again gives the same bytes.
    init(parsing text: String) {
        var root = JSONValue.object([:])
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = Self.decode(pair[..<end]), let value = Self.decode(pair[end...].dropFirst()) else {
                continue
            }
            root.insert(.string(value), at: Self.steps(of: name)[...])
        }
        let json = root.object ?? [:]
        self.init(JSONObject(json.map { ($0.key, $0.value.withNumberedKeysAsArrays) }))
    }

    /// Decodes percent-encoded bytes, with `+` as a space, as `qs` does; nil if the result is not UTF-8.
    private static func decode(_ encoded: some Sequence<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var pending = Array(encoded)[...]
        while let byte = pending.popFirst() {
            if byte == UInt8(ascii: "%"), let high = pending.first.flatMap(hexValue),
                let low = pending.dropFirst().first.flatMap(hexValue)
            {
                bytes.append(high << 4 | low)
                pending.removeFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        Character(Unicode.Scalar(digit)).hexDigitValue.map(UInt8.init)
    }

    /// Splits `a[b][0]` into `a`, `b` and `0`. A key with unmatched brackets is one step.
    private static func steps(of name: String) -> [String] {
        guard let open = name.firstIndex(of: "["), open != name.startIndex, name.last == "]" else { return [name] }
        var steps = [String(name[..<open])]
        var step = ""
        var depth = 0
        for character in name[open...] {
            switch character {
            case "[":
                if depth > 0 { step.append(character) }
                depth += 1
            case "]":
                depth -= 1
                if depth < 0 { return [name] }
                if depth > 0 { step.append(character) }
                if depth == 0 {
                    steps.append(step)
                    step = ""
                }
            default:
                if depth == 0 { return [name] }
                step.append(character)
            }
        }
        return depth == 0 ? steps : [name]
    }
}

extension JSONValue {
    /// Inserts a value below the given steps. An empty step (`a[]`) is the next number.
    fileprivate mutating func insert(_ value: JSONValue, at steps: ArraySlice<String>) {
        guard let first = steps.first else {
            // A repeated key makes a list of its values.
            if case .object(let object) = self, object.isEmpty {
                self = value
            } else {
                self = .array((array ?? [self]) + [value])
            }
            return
        }
        var object = self.object ?? ["0": self]
        self = .null
        let key = first.isEmpty ? String(object.count) : first
        object[key, default: [:]].insert(value, at: steps.dropFirst())
        self = .object(object)
    }

    fileprivate var withNumberedKeysAsArrays: JSONValue {
        guard case .object(let object) = self else { return self }
        let isNumbered = object.enumerated().allSatisfy { $0.element.key == String($0.offset) }
        if isNumbered, !object.isEmpty { return .array(object.map(\.value.withNumberedKeysAsArrays)) }
        return .object(JSONObject(object.map { ($0.key, $0.value.withNumberedKeysAsArrays) }))
    }
}
