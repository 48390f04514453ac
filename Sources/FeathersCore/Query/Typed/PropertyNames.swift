import FeathersSupport
import Foundation

/// Determines the names of models' properties on the server, by decoding the model and recording what it asks for.
///
/// The model is decoded several times, with values that differ at some of its properties. The name of a key path's property is the one whose
/// difference shows at the key path. This needs neither a macro nor a list to maintain.
enum PropertyNames {
    /// Names by key path. Key paths are constants of the program, so there are only a few.
    private static let cache = Locked<[CachedPath: Result<[String], FeathersError>]>([:])

    private struct CachedPath: Hashable, Sendable {
        let path: any AnyKeyPath & Sendable

        static func == (left: Self, right: Self) -> Bool { (left.path as AnyKeyPath) == (right.path as AnyKeyPath) }
        func hash(into hasher: inout Hasher) { hasher.combine(path as AnyKeyPath) }
    }

    /// The path of names to a property, as the model's decoding asks for them.
    /// - Throws: ``FeathersError/Code/badRequest`` if the property cannot be determined.
    static func path<Model: Decodable, Property, Value: QueryValue>(
        of property: any KeyPath<Model, Property> & Sendable, _ type: Value.Type
    ) throws(FeathersError) -> [String] {
        let path = CachedPath(path: property)
        if let names = cache.withLock({ $0[path] }) { return try names.get() }
        let found = Result { () throws(FeathersError) in try find(property, type) }
        cache.withLock { $0[path] = found }
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
        // Each decoding determines one bit of the property's number.
        var number = 0
        for bit in 0..<(Int.bitWidth - (plain.properties.count + 1).leadingZeroBitCount) {
            if try differs({ ($0 + 1) >> bit & 1 == 1 }) { number |= 1 << bit }
        }
        let index = number - 1
        // A property that is computed from others, or into another value than is decoded, has no name.
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

/// A decoder without input. It gives each property one of two values and records the properties' names.
final class PropertyProbe {
    struct Property {
        let path: [String]
        let type: ObjectIdentifier
        /// The first of its two values, for a query; nil if the property consists of others.
        let value: JSONValue?
    }

    private(set) var properties: [Property] = []
    private var indices: [[String]: Int] = [:]
    private let isSet: (Int) -> Bool

    /// - Parameter isSet: whether the property with a given number has the second of its two values.
    init(_ isSet: @escaping (Int) -> Bool) { self.isSet = isSet }

    /// The value for a property; nil for types that decode themselves.
    func value<Value>(of type: Value.Type, at codingPath: [any CodingKey]) -> Value? {
        guard let pair = Self.pair(of: type) as? (Value, Value) else { return nil }
        return isSet(index(of: codingPath, type, value: (pair.0 as? any QueryValue)?.queryValue)) ? pair.1 : pair.0
    }

    /// The number of the property at a path. A property keeps the type that is first asked for.
    @discardableResult
    func index(of codingPath: [any CodingKey], _ type: Any.Type, value: JSONValue? = nil) -> Int {
        let path = codingPath.map(\.stringValue)
        if let index = indices[path] { return index }
        indices[path] = properties.count
        properties.append(Property(path: path, type: ObjectIdentifier(type), value: value))
        return properties.count - 1
    }

    private static func pair<Value>(of type: Value.Type) -> Any? {
        switch type {
        case is Bool.Type: (false, true)
        case is String.Type: ("0", "1")
        case let type as any FixedWidthInteger.Type: integers(type)
        case is Double.Type: (Double(0), Double(1))
        case is Float.Type: (Float(0), Float(1))
        case is Date.Type: (Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1))
        case is UUID.Type:
            (UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case is URL.Type: (URL(filePath: "/0"), URL(filePath: "/1"))
        case is Data.Type: (Data([0]), Data([1]))
        case is Decimal.Type: (Decimal(0), Decimal(1))
        case is JSONValue.Type: (JSONValue.integer(0), JSONValue.integer(1))
        case let type as any CaseIterable.Type: cases(type)
        default: nil
        }
    }

    private static func integers<Value: FixedWidthInteger>(_ type: Value.Type) -> Any { (Value(0), Value(1)) }

    private static func cases<Value: CaseIterable>(_ type: Value.Type) -> Any? {
        Value.allCases.dropFirst().first.flatMap { second in Value.allCases.first.map { ($0, second) } }
    }

    /// A position in the model, where every member exists.
    struct Node: Decoder {
        let probe: PropertyProbe
        let codingPath: [any CodingKey]
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
            KeyedDecodingContainer(Keyed<Key>(node: self))
        }

        func unkeyedContainer() -> any UnkeyedDecodingContainer { Unkeyed(node: self) }

        func singleValueContainer() -> any SingleValueDecodingContainer { self }

        fileprivate func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
            if let value = probe.value(of: type, at: codingPath) { return value }
            probe.index(of: codingPath, type)
            return try Value(from: self)
        }

        fileprivate func child(_ key: any CodingKey) -> Node { Node(probe: probe, codingPath: codingPath + [key]) }
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let node: Node
        var codingPath: [any CodingKey] { node.codingPath }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) -> Bool { false }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try node.child(key).decoded(type) }
        func superDecoder() -> any Decoder { node }
        func superDecoder(forKey key: Key) -> any Decoder { node.child(key) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { Unkeyed(node: node.child(key)) }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedDecodingContainer<Nested> {
            node.child(key).container(keyedBy: type)
        }
    }

    /// A list with one element, which has the path of the list, since the list is the property.
    private struct Unkeyed: UnkeyedDecodingContainer {
        let node: Node
        var currentIndex = 0
        var codingPath: [any CodingKey] { node.codingPath }
        var count: Int? { 1 }
        var isAtEnd: Bool { currentIndex > 0 }

        func decodeNil() -> Bool { false }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            currentIndex += 1
            return try node.decoded(type)
        }

        mutating func superDecoder() -> any Decoder { node }

        mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
            currentIndex += 1
            return node.unkeyedContainer()
        }

        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
            currentIndex += 1
            return node.container(keyedBy: type)
        }
    }
}

extension PropertyProbe.Node: SingleValueDecodingContainer {
    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoded(type) }
}
