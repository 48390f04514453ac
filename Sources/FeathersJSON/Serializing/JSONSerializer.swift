/// Writes values as the JSON text that JavaScript's `JSON.stringify` gives, without spaces.
struct JSONSerializer: ~Copyable {
    var output: ByteBuffer
    /// Whether NaN and the infinities are written as JavaScript names them, for descriptions only, instead of refused.
    let allowsNonFinite: Bool

    init(minimumCapacity: Int = 256, allowsNonFinite: Bool = false) {
        output = ByteBuffer(minimumCapacity: minimumCapacity)
        self.allowsNonFinite = allowsNonFinite
    }

    mutating func write(_ value: borrowing JSONValue) throws(JSONSerializationError) {
        switch copy value {
        case .null: output.append("null")
        case .bool(let bool): bool ? output.append("true") : output.append("false")
        case .integer(let integer): write(integer)
        case .number(let number):
            guard number.isFinite || allowsNonFinite else { throw JSONSerializationError(path: "", number: number.javaScriptDescription) }
            write(number)
        case .string(let string): write(string)
        case .array(let array): try write(array)
        case .object(let object): try write(object)
        }
    }

    private mutating func write(_ array: [JSONValue]) throws(JSONSerializationError) {
        output.append(UInt8(ascii: "["))
        for index in array.indices {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            do {
                try write(array[index])
            } catch {
                throw error.inside(index: index)
            }
        }
        output.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ object: JSONObject) throws(JSONSerializationError) {
        output.append(UInt8(ascii: "{"))
        let entries = object.entries
        for index in entries.indices {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            write(entries[index].key)
            output.append(UInt8(ascii: ":"))
            do {
                try write(entries[index].value)
            } catch {
                throw error.inside(key: entries[index].key)
            }
        }
        output.append(UInt8(ascii: "}"))
    }
}
