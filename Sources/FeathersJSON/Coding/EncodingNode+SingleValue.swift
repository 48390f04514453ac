/// The node itself is its single-value container, which saves one allocation a value.
extension EncodingNode: SingleValueEncodingContainer {
    private func set(_ value: JSONValue) {
        become(.single)
        single = value
    }

    func encodeNil() {
        set(.null)
    }

    func encode<T: Encodable>(_ value: T) throws {
        set(try encode(value, at: .root))
    }

    func encode(_ value: Bool) throws {
        set(.bool(value))
    }

    func encode(_ value: String) throws {
        set(.string(value))
    }

    func encode(_ value: Double) throws {
        set(try double(value, at: .root))
    }

    func encode(_ value: Float) throws {
        set(try float(value, at: .root))
    }

    func encode(_ value: Int) throws {
        set(try integer(value, at: .root))
    }

    func encode(_ value: Int8) throws {
        set(try integer(value, at: .root))
    }

    func encode(_ value: Int16) throws {
        set(try integer(value, at: .root))
    }

    func encode(_ value: Int32) throws {
        set(try integer(value, at: .root))
    }

    func encode(_ value: Int64) throws {
        set(try integer(value, at: .root))
    }

    func encode(_ value: UInt) throws {
        set(try integer(value, at: .root))
    }

    func encode(_ value: UInt8) throws {
        set(try integer(value, at: .root))
    }

    func encode(_ value: UInt16) throws {
        set(try integer(value, at: .root))
    }

    func encode(_ value: UInt32) throws {
        set(try integer(value, at: .root))
    }

    func encode(_ value: UInt64) throws {
        set(try integer(value, at: .root))
    }
}
