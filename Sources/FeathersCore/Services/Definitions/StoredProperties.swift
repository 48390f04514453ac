import FeathersJSON
import FeathersSupport
import Foundation
import Synchronization

/// The stored properties of a structure, which are reached by their offsets in memory.
///
/// Made once for each type, and kept for as long as the process runs, as the type's metadata is.
struct StoredProperties {
    typealias Key = PropertyKey<Never>

    private struct Property {
        let key: Key
        let offset: Int
        let size: Int
        let kind: Kind
        let encodable: any Encodable.Type
        let decodable: (any Decodable.Type)?
        let hashable: (any Hashable.Type)?
        // These are tried first.
        let omissiblyEncodable: (any OmissiblyEncodable.Type)?
        let omissiblyDecodable: (any OmissiblyDecodable.Type)?
    }

    /// The types that are known here. The others are reached by their metadata: with these too, decoding took 1.35 times as long.
    private enum Kind {
        case string, int, double, bool, optionalString, optionalInt, optionalDouble, optionalBool, other

        init(_ type: any Any.Type) {
            self =
                switch ObjectIdentifier(type) {
                case ObjectIdentifier(String.self): .string
                case ObjectIdentifier(Int.self): .int
                case ObjectIdentifier(Double.self): .double
                case ObjectIdentifier(Bool.self): .bool
                case ObjectIdentifier(String?.self): .optionalString
                case ObjectIdentifier(Int?.self): .optionalInt
                case ObjectIdentifier(Double?.self): .optionalDouble
                case ObjectIdentifier(Bool?.self): .optionalBool
                default: .other
                }
        }
    }

    private let first: UnsafePointer<Property>
    private let count: Int

    // MARK: Lists

    private static let known = Mutex<[ObjectIdentifier: StoredProperties]>([:])

    static func of<Root: PropertyEncodable>(_ type: Root.Type) -> StoredProperties {
        let id = ObjectIdentifier(type)
        if let properties = known.withLock({ $0[id] }) { return properties }
        // Two threads may both read a list; the first one's is kept.
        let properties = StoredProperties(type)
        return known.withLock { known in
            if let earlier = known[id] {
                properties.first.deallocate()
                return earlier
            }
            known[id] = properties
            return properties
        }
    }

    /// Reads a type's list.
    ///
    /// Each byte of a value must belong to a listed property or lie before one for its alignment. Then initializing the properties initializes
    /// the value. What a list leaves out of such a gap is smaller than a pointer, so it holds no reference; it is decoded as zero.
    private init<Root: PropertyEncodable>(_ type: Root.Type) {
        func layout<Value>(_ type: Value.Type) -> (size: Int, alignment: Int) { (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment) }
        var list: [Property] = []
        for (name, path) in Root.properties {
            let type = Swift.type(of: path).valueType
            guard let offset = MemoryLayout<Root>.offset(of: path), let encodable = type as? any Encodable.Type else {
                preconditionFailure("'\(name)' in \(Root.self).properties must be a stored property of an encodable type.")
            }
            list.append(
                Property(
                    key: Key(name), offset: offset, size: layout(encodable).size, kind: Kind(type), encodable: encodable,
                    decodable: type as? any Decodable.Type, hashable: type as? any Hashable.Type,
                    omissiblyEncodable: type as? any OmissiblyEncodable.Type, omissiblyDecodable: type as? any OmissiblyDecodable.Type))
        }
        var end = 0
        for property in list.sorted(by: { ($0.offset, $0.size) < ($1.offset, $1.size) }) {
            let alignment = layout(property.encodable).alignment
            precondition(
                property.offset == (end + alignment - 1) / alignment * alignment,
                "\(Root.self).properties must list each stored property once. See '\(property.key.stringValue)' and what is stored before it."
            )
            end = property.offset + property.size
        }
        precondition(end == MemoryLayout<Root>.size, "\(Root.self).properties must list all stored properties.")
        let first = UnsafeMutablePointer<Property>.allocate(capacity: list.count)
        first.initialize(from: list, count: list.count)
        self.first = UnsafePointer(first)
        count = list.count
    }

    // MARK: Values

    func encode(_ value: UnsafeRawPointer, to encoder: any Encoder) throws {
        if var container = encoder.jsonContainer(keyedBy: Key.self) {
            try encode(value, to: &container)
        } else {
            var container = encoder.container(keyedBy: Key.self)
            try encode(value, to: &container)
        }
    }

    @inline(__always)
    private func encode<Container: KeyedEncodingContainerProtocol>(
        _ value: UnsafeRawPointer, to container: inout Container
    ) throws where Container.Key == Key {
        for property in first..<first + count {
            let (key, value) = (property.pointee.key, value + property.pointee.offset)
            switch property.pointee.kind {
            case .string: try container.encode(value.assumingMemoryBound(to: String.self).pointee, forKey: key)
            case .int: try container.encode(value.assumingMemoryBound(to: Int.self).pointee, forKey: key)
            case .double: try container.encode(value.assumingMemoryBound(to: Double.self).pointee, forKey: key)
            case .bool: try container.encode(value.assumingMemoryBound(to: Bool.self).pointee, forKey: key)
            case .optionalString: try container.encodeIfPresent(value.assumingMemoryBound(to: String?.self).pointee, forKey: key)
            case .optionalInt: try container.encodeIfPresent(value.assumingMemoryBound(to: Int?.self).pointee, forKey: key)
            case .optionalDouble: try container.encodeIfPresent(value.assumingMemoryBound(to: Double?.self).pointee, forKey: key)
            case .optionalBool: try container.encodeIfPresent(value.assumingMemoryBound(to: Bool?.self).pointee, forKey: key)
            case .other:
                if let type = property.pointee.omissiblyEncodable {
                    try Self.encodeOmissible(type, value, key, &container)
                } else {
                    let type = property.pointee.encodable
                    try Self.encode(type, value, key, &container)
                }
            }
        }
    }

    private static func encode<Value: Encodable, Container: KeyedEncodingContainerProtocol>(
        _ type: Value.Type, _ value: UnsafeRawPointer, _ key: Key, _ container: inout Container
    ) throws where Container.Key == Key {
        try container.encode(value.assumingMemoryBound(to: type).pointee, forKey: key)
    }

    private static func encodeOmissible<Value: OmissiblyEncodable, Container: KeyedEncodingContainerProtocol>(
        _ type: Value.Type, _ value: UnsafeRawPointer, _ key: Key, _ container: inout Container
    ) throws where Container.Key == Key {
        try value.assumingMemoryBound(to: type).pointee.encode(to: &container, forKey: key)
    }

    /// Initializes a value. If that fails, nothing is initialized.
    func decode(_ decoder: any Decoder, to value: UnsafeMutablePointer<some Any>) throws {
        // Calls of a known container do not go through `KeyedDecodingContainer`, which saves a tenth of the time.
        if let container = try decoder.jsonContainer(keyedBy: Key.self) {
            try decode(container, to: value)
        } else {
            try decode(decoder.container(keyedBy: Key.self), to: value)
        }
    }

    @inline(__always)
    private func decode<Root, Container: KeyedDecodingContainerProtocol>(
        _ container: Container, to value: UnsafeMutablePointer<Root>
    ) throws where Container.Key == Key {
        let value = UnsafeMutableRawPointer(value)
        memset(value, 0, MemoryLayout<Root>.size)
        var property = first
        do {
            while property < first + count {
                let (key, value) = (property.pointee.key, value + property.pointee.offset)
                switch property.pointee.kind {
                case .string: value.initializeProperty(try container.decode(String.self, forKey: key))
                case .int: value.initializeProperty(try container.decode(Int.self, forKey: key))
                case .double: value.initializeProperty(try container.decode(Double.self, forKey: key))
                case .bool: value.initializeProperty(try container.decode(Bool.self, forKey: key))
                case .optionalString: value.initializeProperty(try container.decodeIfPresent(String.self, forKey: key))
                case .optionalInt: value.initializeProperty(try container.decodeIfPresent(Int.self, forKey: key))
                case .optionalDouble: value.initializeProperty(try container.decodeIfPresent(Double.self, forKey: key))
                case .optionalBool: value.initializeProperty(try container.decodeIfPresent(Bool.self, forKey: key))
                case .other:
                    if let type = property.pointee.omissiblyDecodable {
                        try Self.decodeOmissible(type, key, container, to: value)
                    } else if let type = property.pointee.decodable {
                        try Self.decode(type, key, container, to: value)
                    } else {
                        preconditionFailure("The type of '\(key.stringValue)' in \(Root.self).properties is not decodable.")
                    }
                }
                property += 1
            }
        } catch {
            func deinitialize<Value>(_ type: Value.Type, at offset: Int) {
                (value + offset).assumingMemoryBound(to: type).deinitialize(count: 1)
            }
            for initialized in first..<property { deinitialize(initialized.pointee.encodable, at: initialized.pointee.offset) }
            throw error
        }
    }

    private static func decode<Value: Decodable, Container: KeyedDecodingContainerProtocol>(
        _ type: Value.Type, _ key: Key, _ container: Container, to value: UnsafeMutableRawPointer
    ) throws where Container.Key == Key {
        value.initializeProperty(try container.decode(type, forKey: key))
    }

    private static func decodeOmissible<Value: OmissiblyDecodable, Container: KeyedDecodingContainerProtocol>(
        _ type: Value.Type, _ key: Key, _ container: Container, to value: UnsafeMutableRawPointer
    ) throws where Container.Key == Key {
        value.initializeProperty(try type.decoded(from: container, forKey: key))
    }

    func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool {
        for property in self.first..<self.first + count {
            let (first, second) = (first + property.pointee.offset, second + property.pointee.offset)
            // Values of the same bytes are equal, even a NaN.
            if memcmp(first, second, property.pointee.size) == 0 { continue }
            let isEqual =
                switch property.pointee.kind {
                case .string: Self.areEqual(String.self, first, second)
                case .optionalString: Self.areEqual(String?.self, first, second)
                case .int, .bool, .optionalBool: false
                default: Self.areEqual(hashable(property), first, second)
                }
            if !isEqual { return false }
        }
        return true
    }

    @inline(__always)
    private static func areEqual<Value: Equatable>(_ type: Value.Type, _ first: UnsafeRawPointer, _ second: UnsafeRawPointer) -> Bool {
        first.assumingMemoryBound(to: type).pointee == second.assumingMemoryBound(to: type).pointee
    }

    func hash(_ value: UnsafeRawPointer, into hasher: inout Hasher) {
        func hash<Value: Hashable>(_ type: Value.Type, _ offset: Int) {
            hasher.combine((value + offset).assumingMemoryBound(to: type).pointee)
        }
        for property in first..<first + count { hash(hashable(property), property.pointee.offset) }
    }

    private func hashable(_ property: UnsafePointer<Property>) -> any Hashable.Type {
        guard let type = property.pointee.hashable else {
            preconditionFailure("The property '\(property.pointee.key.stringValue)' is not hashable: \(property.pointee.encodable).")
        }
        return type
    }
}

extension UnsafeMutableRawPointer {
    /// Initializes a property in memory that is bound to its structure, and so to the property's type there.
    @inline(__always)
    fileprivate func initializeProperty<Value>(_ value: Value) { assumingMemoryBound(to: Value.self).initialize(to: value) }
}

/// A type with values that are left out.
private protocol OmissiblyEncodable: Encodable {
    func encode<Container: KeyedEncodingContainerProtocol>(to container: inout Container, forKey key: Container.Key) throws
}

/// A type with a value for properties that are missing.
private protocol OmissiblyDecodable: Decodable {
    static func decoded<Container: KeyedDecodingContainerProtocol>(from container: Container, forKey key: Container.Key) throws -> Self
}

extension Optional: OmissiblyEncodable where Wrapped: Encodable {
    fileprivate func encode<Container: KeyedEncodingContainerProtocol>(to container: inout Container, forKey key: Container.Key) throws {
        try container.encodeIfPresent(self, forKey: key)
    }
}

extension Optional: OmissiblyDecodable where Wrapped: Decodable {
    fileprivate static func decoded<Container: KeyedDecodingContainerProtocol>(from container: Container, forKey key: Container.Key) throws
        -> Self
    {
        try container.decodeIfPresent(Wrapped.self, forKey: key)
    }
}

extension Presence: OmissiblyEncodable where Value: Encodable {
    fileprivate func encode<Container: KeyedEncodingContainerProtocol>(to container: inout Container, forKey key: Container.Key) throws {
        switch self {
        case .absent: break
        case .null: try container.encodeNil(forKey: key)
        case .value(let value): try container.encode(value, forKey: key)
        }
    }
}

extension Presence: OmissiblyDecodable where Value: Decodable {
    fileprivate static func decoded<Container: KeyedDecodingContainerProtocol>(from container: Container, forKey key: Container.Key) throws
        -> Self
    {
        guard container.contains(key) else { return .absent }
        return try container.decodeNil(forKey: key) ? .null : .value(container.decode(Value.self, forKey: key))
    }
}

extension Nullable: OmissiblyDecodable where Value: Decodable {
    fileprivate static func decoded<Container: KeyedDecodingContainerProtocol>(from container: Container, forKey key: Container.Key) throws
        -> Self
    {
        Self(wrappedValue: try container.decodeIfPresent(Value.self, forKey: key))
    }
}

extension Indirect: OmissiblyEncodable where Value: OmissiblyEncodable {
    fileprivate func encode<Container: KeyedEncodingContainerProtocol>(to container: inout Container, forKey key: Container.Key) throws {
        try wrappedValue.encode(to: &container, forKey: key)
    }
}

extension Indirect: OmissiblyDecodable where Value: OmissiblyDecodable {
    fileprivate static func decoded<Container: KeyedDecodingContainerProtocol>(from container: Container, forKey key: Container.Key) throws
        -> Self
    {
        Self(wrappedValue: try Value.decoded(from: container, forKey: key))
    }
}

// `first` points to memory that is never written again.
extension StoredProperties: @unchecked Sendable {}
