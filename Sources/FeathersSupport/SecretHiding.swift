/// A type that holds secrets, and shows none of them when it is printed, dumped or inspected in a debugger.
///
/// Conforming types write a ``description`` without secrets; a debugger and `dump(_:)` show the same text.
public protocol SecretHiding: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SecretHiding {
    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror that shows nothing of what the value holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
