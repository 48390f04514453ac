/// The path of a property, split into steps: `"address.city"` has two.
struct QueryPath: Sendable {
    struct Step: Sendable {
        let name: String
        /// The array index that the step names, if any.
        let index: Int?
        /// Whether the step is numeric. If so, the elements of an array are not searched.
        let isNumeric: Bool
    }

    let steps: [Step]
    /// The name of the only step; nil if there are several.
    private let name: String?

    init(_ path: String) {
        steps = path.split(separator: ".", omittingEmptySubsequences: false).map { Step(String($0)) }
        name = steps.count == 1 ? path : nil
    }

    /// Returns the value at the path; nil if a step is missing. Arrays are entered only by index.
    func value(in value: JSONValue) -> JSONValue? {
        guard case .object(let object) = value else { return self.value(at: steps[...], in: value) }
        if let name { return object[name] }
        return self.value { object[$0] }
    }

    /// Returns the value at the path in an object, whose properties a function returns.
    func value(of property: (String) -> JSONValue?) -> JSONValue? {
        // The usual case, without copying the steps.
        if let name { return property(name) }
        return property(steps[0].name).flatMap { value(at: steps.dropFirst(), in: $0) }
    }

    private func value(at steps: ArraySlice<Step>, in value: JSONValue) -> JSONValue? {
        var current = value
        for step in steps {
            guard let next = current.member(step) else { return nil }
            current = next
        }
        return current
    }
}

extension QueryPath.Step {
    init(_ name: String) {
        self.name = name
        index = Int(name).flatMap { $0 >= 0 && String($0) == name ? $0 : nil }
        // In JavaScript, an empty key is the number 0. Words that Swift parses as numbers ("nan") are not numbers
        // there.
        isNumeric =
            name.isEmpty || index != nil
            || (name.utf8.allSatisfy("0123456789+-.eE".utf8.contains) && Double(name) != nil)
    }
}

extension JSONValue {
    /// Returns JavaScript's `value[step]`; nil for `undefined`.
    func member(_ step: QueryPath.Step) -> JSONValue? {
        switch self {
        case .object(let object): return object[step.name]
        case .array(let array):
            guard let index = step.index else { return step.length(array.count) }
            guard index < array.count else { return .none }
            return array[index]
        case .string(let string):
            guard let index = step.index else { return step.length(string.utf16.count) }
            return string.utf16.dropFirst(index).first.flatMap(Unicode.Scalar.init).map { .string(String($0)) }
        case .null, .bool, .integer, .number, .decimal: return .none
        }
    }
}

extension QueryPath.Step {
    fileprivate func length(_ count: Int) -> JSONValue? {
        // Not `nil`, which could also mean JSON's null.
        name == "length" ? .some(.integer(Int64(count))) : .none
    }
}
