/// What is made of a JSON text while a parser reads it.
///
/// Two things are: the tree of values (``JSONTreeBuilder``), and marks of where each value stands (``TapeWriter``). The parser is generic, so that
/// each has one of its own, in which the calls to it cost nothing.
protocol JSONBuilder: ~Copyable {
    /// What is kept of an array or object whose end has not been read yet.
    associatedtype Container
    /// What is known of a value that has been read.
    associatedtype Value

    /// Whether strings are wanted with their escapes resolved; else these are only checked.
    static var resolvesEscapes: Bool { get }

    /// Nothing, in the place of a container: what is around the outermost value.
    var outside: Container { get }

    mutating func null(at offset: Int) -> Value
    mutating func bool(_ bool: Bool, at offset: Int) -> Value
    mutating func integer(_ integer: Int64, at offset: Int) -> Value
    mutating func number(_ number: Double, at offset: Int) -> Value
    /// - Returns: nil where the string is no UTF-8.
    mutating func string(_ string: ParsedString) -> Value?

    mutating func open(_ kind: JSONContainerKind, at offset: Int) -> Container
    /// Takes the key of the value that is read next.
    /// - Returns: false where the key is no UTF-8.
    mutating func key(_ key: ParsedString, in container: inout Container) -> Bool
    /// Takes the next value of a container.
    mutating func add(_ value: consuming Value)
    /// - Parameter end: the offset behind the closing bracket.
    mutating func close(_ kind: JSONContainerKind, _ container: consuming Container, endingAt end: Int) -> Value
}

enum JSONContainerKind {
    /// The place around the outermost value.
    case outside
    case array
    case object
}

/// A string as it was found.
struct ParsedString {
    /// What it means, or, where a builder resolves no escapes, how it is written.
    let bytes: UnsafeBufferPointer<UInt8>
    /// Where it begins in the text, after its quote.
    let offset: Int
    /// How many bytes it has in the text.
    let length: Int
    /// Whether nothing remains to be checked: all bytes are ASCII, or come of escapes.
    let isASCII: Bool
    let hasEscapes: Bool
}
