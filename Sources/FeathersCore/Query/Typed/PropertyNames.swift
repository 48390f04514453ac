import FeathersSupport

/// Finds out what the properties of models are called on the server, by decoding the model and watching what it asks for.
///
/// The model is decoded several times with values that differ at some of its properties; the property a key path leads to is the one
/// whose difference shows there. No macro and no list to keep up to date is needed.
enum PropertyNames {
    /// Names that were found: key paths are constants of the program, so that few are ever kept.
    private static let known = Locked<[KnownPath: Result<[String], FeathersError>]>([:])

    private struct KnownPath: Hashable, Sendable {
        let path: any AnyKeyPath & Sendable

        static func == (left: Self, right: Self) -> Bool { (left.path as AnyKeyPath) == (right.path as AnyKeyPath) }
        func hash(into hasher: inout Hasher) { hasher.combine(path as AnyKeyPath) }
    }

    /// The names that lead to a property, as the model's decoding asks for them.
    /// - Throws: ``FeathersError/Code/badRequest`` where the property cannot be told.
    static func path<Model: Decodable, Property, Value: QueryValue>(
        of property: any KeyPath<Model, Property> & Sendable, _ type: Value.Type
    ) throws(FeathersError) -> [String] {
        let path = KnownPath(path: property)
        if let names = known.withLock({ $0[path] }) { return try names.get() }
        let found = Result { () throws(FeathersError) in try find(property, type) }
        known.withLock { $0[path] = found }
        return try found.get()
    }

    private static func find<Model: Decodable, Property, Value: QueryValue>(
        _ property: KeyPath<Model, Property>, _ type: Value.Type
    ) throws(FeathersError) -> [String] {
        let plain = PropertyProbe { _ in false }
        let baseline = try decode(Model.self, plain)
        func differs(_ isSet: @escaping (Int) -> Bool) throws(FeathersError) -> Bool {
            let other = try decode(Model.self, PropertyProbe(isSet))
            return text(other[keyPath: property]) != text(baseline[keyPath: property])
        }
        // The bits of the property's number, one decoding for each.
        var number = 0
        for bit in 0..<(Int.bitWidth - (plain.properties.count + 1).leadingZeroBitCount) {
            if try differs({ ($0 + 1) >> bit & 1 == 1 }) { number |= 1 << bit }
        }
        let index = number - 1
        // What is computed, from several properties or into another value than is decoded, has no name of its own.
        guard plain.properties.indices.contains(index) else { throw computed(Model.self) }
        let found = plain.properties[index]
        guard found.type == ObjectIdentifier(Value.self), found.value == nil || found.value == text(baseline[keyPath: property]),
            try differs({ $0 == index }), try !differs({ $0 != index })
        else { throw computed(Model.self) }
        return found.path
    }

    private static func text<Property>(_ value: Property) -> JSONValue? {
        switch value {
        case let value as any QueryValue: value.queryValue
        default: nil
        }
    }

    private static func decode<Model: Decodable>(_ model: Model.Type, _ probe: PropertyProbe) throws(FeathersError) -> Model {
        do {
            return try Model(from: PropertyProbe.Node(probe: probe, codingPath: []))
        } catch {
            throw unknown(model, "\(error)")
        }
    }

    private static func computed(_ model: Any.Type) -> FeathersError { unknown(model, "the property is not what is decoded") }

    private static func unknown(_ model: Any.Type, _ reason: String) -> FeathersError {
        FeathersError(
            .badRequest, "What a property of \(model) is called on the server cannot be found out (\(reason)): name it in the raw form",
            execution: .neverSent)
    }
}
