/// A type that contains secrets and hides them when it is printed, dumped or inspected in a debugger.
///
/// ``description`` identifies the value without secrets. A debugger and `dump(_:)` show the same text.
public protocol SecretHiding: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SecretHiding {
    /// The type's name, unless the type has a description of its own, without secrets.
    public var description: String { "\(Self.self)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror that hides the contents of the value.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Returns the description of a nested value: only its type, unless the type is known to hide its secrets.
package func summarize(_ value: Any) -> String {
    value is any SecretHiding ? String(describing: value) : "\(type(of: value))"
}
