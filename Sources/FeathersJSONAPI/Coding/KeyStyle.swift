/// The mapping between property names and the names of fields in a document.
///
/// The mapping applies to attributes, relationships, and the fields named in a query, but not to resource types.
public struct KeyStyle: Sendable {
    private let wire: (@Sendable (String) -> String)?
    private let property: (@Sendable (String) -> String)?

    private init() {
        wire = nil
        property = nil
    }

    /// Creates a custom style. Only plain records need `propertyName`, because models declare their property names.
    public init(wireName: @escaping @Sendable (String) -> String, propertyName: @escaping @Sendable (String) -> String)
    {
        wire = wireName
        property = propertyName
    }

    /// Names that are the same in models and documents.
    public static let asIs = KeyStyle()
    /// Dashes between words: `createdAt` is `created-at` in the document.
    public static let dasherized = separated(by: UInt8(ascii: "-"))
    /// Underscores between words: `createdAt` is `created_at` in the document.
    public static let underscored = separated(by: UInt8(ascii: "_"))

    /// Camel case: `created_at` is `createdAt` in the document. Names already in camel case stay unchanged.
    public static let camel = KeyStyle(wireName: { camelCase($0, separator: UInt8(ascii: "_")) }, propertyName: { $0 })

    private static func separated(by separator: UInt8) -> KeyStyle {
        KeyStyle(
            wireName: { words(of: $0, separator: separator) }, propertyName: { camelCase($0, separator: separator) })
    }

    /// Returns the name in the document for a property.
    public func wireName(of property: String) -> String { wire?(property) ?? property }
    /// Returns the property for a name in the document.
    public func propertyName(of wire: String) -> String { property?(wire) ?? wire }

    /// Returns the name in the document for a path through relationships, such as `comments.author`.
    public func wirePath(of path: String) -> String {
        guard wire != nil else { return path }
        return path.split(separator: ".", omittingEmptySubsequences: false).map { wireName(of: String($0)) }.joined(
            separator: ".")
    }

    var isIdentity: Bool { wire == nil }
}

/// Splits a name into lowercase words. A word starts at a capital letter next to a lowercase one: `htmlBody`,
/// `HTMLBody`.
private func words(of name: String, separator: UInt8) -> String {
    let bytes = Array(name.utf8)
    var text: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
        guard byte.isCapital else {
            text.append(byte)
            continue
        }
        let followsSmall = index > 0 && bytes[index - 1].isSmall
        let precedesSmall = index + 1 < bytes.count && bytes[index + 1].isSmall
        if index > 0, followsSmall || precedesSmall, text.last != separator { text.append(separator) }
        text.append(byte | 0x20)
    }
    return String(decoding: text, as: UTF8.self)
}

/// Joins words, capitalizing all but the first. A separator that is not followed by a lowercase letter stays.
private func camelCase(_ name: String, separator: UInt8) -> String {
    var text: [UInt8] = []
    var rest = Array(name.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == separator, !text.isEmpty, let next = rest.first, next.isSmall {
            rest.removeFirst()
            text.append(next & ~0x20)
        } else {
            text.append(byte)
        }
    }
    return String(decoding: text, as: UTF8.self)
}

extension UInt8 {
    fileprivate var isCapital: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
    fileprivate var isSmall: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }
}
