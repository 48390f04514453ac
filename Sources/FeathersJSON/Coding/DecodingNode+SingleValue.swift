/// The node itself is its single-value container, which saves one allocation a value.
extension DecodingNode: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        source.isNull
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try decodeWhole(type)
    }

    func decode(_ type: Bool.Type) throws -> Bool {
        try bool(from: source, at: .root)
    }

    func decode(_ type: String.Type) throws -> String {
        try string(from: source, at: .root)
    }

    func decode(_ type: Double.Type) throws -> Double {
        try double(from: source, at: .root)
    }

    func decode(_ type: Float.Type) throws -> Float {
        try float(from: source, at: .root)
    }

    func decode(_ type: Int.Type) throws -> Int {
        try integer(from: source, as: type, at: .root)
    }

    func decode(_ type: Int8.Type) throws -> Int8 {
        try integer(from: source, as: type, at: .root)
    }

    func decode(_ type: Int16.Type) throws -> Int16 {
        try integer(from: source, as: type, at: .root)
    }

    func decode(_ type: Int32.Type) throws -> Int32 {
        try integer(from: source, as: type, at: .root)
    }

    func decode(_ type: Int64.Type) throws -> Int64 {
        try integer(from: source, as: type, at: .root)
    }

    func decode(_ type: UInt.Type) throws -> UInt {
        try integer(from: source, as: type, at: .root)
    }

    func decode(_ type: UInt8.Type) throws -> UInt8 {
        try integer(from: source, as: type, at: .root)
    }

    func decode(_ type: UInt16.Type) throws -> UInt16 {
        try integer(from: source, as: type, at: .root)
    }

    func decode(_ type: UInt32.Type) throws -> UInt32 {
        try integer(from: source, as: type, at: .root)
    }

    func decode(_ type: UInt64.Type) throws -> UInt64 {
        try integer(from: source, as: type, at: .root)
    }
}
