/// What is wrong with a JSON:API document, and where.
///
/// It is thrown for what cannot be read or written at all, and listed by ``JSONAPIDocument/violations(in:as:)`` for what breaks the
/// specification. An error a server sends is a ``JSONAPIErrorObject``.
public struct JSONAPIError: Error, Hashable, Sendable {
    /// Where in the document; the place itself may be missing there.
    public let pointer: JSONPointer
    /// What is wrong. It names members and types, never the values of attributes.
    public let message: String

    /// An error; the parameters are the properties of the same names.
    public init(_ pointer: JSONPointer, _ message: String) {
        self.pointer = pointer
        self.message = message
    }
}

extension JSONAPIError: CustomStringConvertible {
    public var description: String {
        pointer.text.isEmpty ? message : "\(message) (at \(pointer))"
    }
}
