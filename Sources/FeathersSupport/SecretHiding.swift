/// A type that holds secrets, and shows none of them when it is printed, dumped or inspected in a debugger.
///
/// A ``description`` says what the value is, without secrets; a debugger and `dump(_:)` show the same text.
public protocol SecretHiding: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SecretHiding {
    /// What the value is, without secrets: the name of its type, unless the type says more.
    public var description: String { (self as? any Summarized)?.summary ?? "\(Self.self)" }

    /// The same as ``description``.
    public var debugDescription: String { String(describing: self) }

    /// A mirror that shows nothing of what the value holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A ``SecretHiding`` type that says more than its name, without a property of its own in the public API.
package protocol Summarized {
    /// The type's name and what tells one value from another. No secrets.
    var summary: String { get }
}

/// What a value of any type shows inside the summary of another: its type alone, unless it is known to hide its secrets.
package func summarize(_ value: Any) -> String { value is any SecretHiding ? String(describing: value) : "\(type(of: value))" }
