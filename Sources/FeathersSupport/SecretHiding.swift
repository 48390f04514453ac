/// A type that contains secrets and hides them when it is printed, dumped or inspected in a debugger.
///
/// ``description`` identifies the value without secrets. A debugger and `dump(_:)` show the same text.
public protocol SecretHiding: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SecretHiding {
    /// A description without secrets: the type's name or, if the type provides one, its summary.
    public var description: String { (self as? any Summarized)?.summary ?? "\(Self.self)" }

    /// The same as ``description``.
    public var debugDescription: String { String(describing: self) }

    /// A mirror that hides the contents of the value.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A ``SecretHiding`` type with a more detailed description, without an additional property in the public API.
package protocol Summarized {
    /// The type's name and the values that distinguish instances. Contains no secrets.
    var summary: String { get }
}

/// Returns the summary of a nested value: only its type, unless the type is known to hide its secrets.
package func summarize(_ value: Any) -> String { value is any SecretHiding ? String(describing: value) : "\(type(of: value))" }
