extension JSONValue: CustomStringConvertible {
    /// The value as JSON text.
    ///
    /// Unlike `serialized()` it never fails: NaN and the infinities are named as JavaScript names them.
    public var description: String {
        var serializer = JSONSerializer(allowsNonFinite: true)
        // Nothing is refused here, and the text so far is the best answer if it ever were.
        try? serializer.write(self)
        return serializer.output.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
