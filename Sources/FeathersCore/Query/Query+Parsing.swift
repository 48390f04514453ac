extension Query {
    /// The query a query string stands for, read as `qs` reads it: every value is a string, numbered keys become arrays.
    ///
    /// For replaying recorded requests, hence without limits, and an object whose numbered keys do not count up from 0
    /// stays an object: what was written with indices is written again byte for byte.
    package init(parsing text: String) {
        var root = JSONValue.object([:])
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = PercentEncoding.decode(pair[..<end]), let value = PercentEncoding.decode(pair[end...].dropFirst()) else {
                continue
            }
            root.insert(.string(value), at: Self.steps(of: name)[...])
        }
        let json = root.object ?? [:]
        self.init(JSONObject(json.map { ($0.key, $0.value.withNumberedKeysAsArrays) }))
    }

    /// `a[b][0]` as `a`, `b`, `0`. A key whose brackets do not match is one step.
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
    /// Puts a value below the given steps; an empty step (`a[]`) is the next number.
    fileprivate mutating func insert(_ value: JSONValue, at steps: ArraySlice<String>) {
        guard let first = steps.first else {
            // A key given twice makes a list of both values.
            if case .object(let object) = self, object.isEmpty { self = value } else { self = .array((array ?? [self]) + [value]) }
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

extension JSONObject {
    fileprivate init(_ elements: [(String, JSONValue)]) {
        self.init(minimumCapacity: elements.count)
        for (key, value) in elements { self[key] = value }
    }
}
