import Foundation

/// A decoder without input: it gives each property one of two values and remembers what the properties are called.
final class PropertyProbe {
    struct Property {
        let path: [String]
        let type: ObjectIdentifier
        /// The first of its two values as a query has it; nil where it consists of others.
        let value: JSONValue?
    }

    private(set) var properties: [Property] = []
    private var indices: [[String]: Int] = [:]
    private let isSet: (Int) -> Bool

    /// - Parameter isSet: which of its two values the property of this number has.
    init(_ isSet: @escaping (Int) -> Bool) {
        self.isSet = isSet
    }

    /// The value for a property; nil for types that have to be decoded themselves.
    func value<Value>(of type: Value.Type, at codingPath: [any CodingKey]) -> Value? {
        guard let pair = Self.pair(of: type) as? (Value, Value) else { return nil }
        return isSet(index(of: codingPath, type, value: (pair.0 as? any QueryValue)?.queryValue)) ? pair.1 : pair.0
    }

    /// The number of the property at a path; a property keeps the type it is first asked for as.
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
}
