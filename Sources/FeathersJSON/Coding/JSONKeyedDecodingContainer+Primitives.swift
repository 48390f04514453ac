/// The primitives, each without a node of its own.
extension JSONKeyedDecodingContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try node.bool(from: value(for: key), at: .key(key))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.bool(from: value, at: .key(key))
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try node.string(from: value(for: key), at: .key(key))
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.string(from: value, at: .key(key))
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try node.double(from: value(for: key), at: .key(key))
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.double(from: value, at: .key(key))
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try node.float(from: value(for: key), at: .key(key))
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.float(from: value, at: .key(key))
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }
}
