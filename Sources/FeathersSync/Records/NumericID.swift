/// Tells whether the ids of a model are numbers, by their type: `Int`, an optional of it, or a type whose raw value is one.
enum NumericID {
    static func isUsed<Model>(by model: Model.Type) -> Bool {
        func id<Identified: Identifiable>(_: Identified.Type) -> Any.Type { Identified.ID.self }
        return (model as? any Identifiable.Type).map { isNumber(id($0)) } ?? false
    }

    private static func isNumber(_ type: Any.Type) -> Bool {
        func rawValue<Raw: RawRepresentable>(_: Raw.Type) -> Any.Type { Raw.RawValue.self }
        if type is any BinaryInteger.Type { return true }
        if let optional = type as? any OptionalType.Type { return isNumber(optional.wrapped) }
        return (type as? any RawRepresentable.Type).map { isNumber(rawValue($0)) } ?? false
    }
}

private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}
