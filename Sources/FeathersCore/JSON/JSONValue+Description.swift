extension JSONValue: CustomStringConvertible {
    /// The value as JSON text.
    public var description: String { "" }
}
