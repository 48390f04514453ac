extension JSONValue {
    /// The value as a JSON text in UTF-8: what JavaScript's `JSON.stringify` writes for it, keys in their order.
    ///
    /// - Throws: `JSONSerializationError` where a number is NaN or infinite, which JSON cannot express.
    public func serialized() throws(JSONSerializationError) -> [UInt8] {
        var serializer = JSONSerializer()
        try serializer.write(self)
        return serializer.output.withBytes { Array($0) }
    }

    /// Appends the value's JSON text to `bytes`, which stays as it was if an error is thrown.
    ///
    /// - Throws: `JSONSerializationError` where a number is NaN or infinite, which JSON cannot express.
    public func serialize(into bytes: inout [UInt8]) throws(JSONSerializationError) {
        var serializer = JSONSerializer()
        try serializer.write(self)
        serializer.output.withBytes { bytes.append(contentsOf: $0) }
    }
}
