/// The mapping between the names of properties and the names of fields in a document.
///
/// It applies to attributes, relationships, and the fields that a query names, but not to types of resources.
public struct KeyStyle: Sendable {
    private let wire: (@Sendable (String) -> String)?
    private let property: (@Sendable (String) -> String)?

    private init() {
        wire = nil
        property = nil
    }

    /// Creates a style of your own. Only plain records need `propertyName`, since models name their properties.
    public init(wireName: @escaping @Sendable (String) -> String, propertyName: @escaping @Sendable (String) -> String) {
        wire = wireName
        property = propertyName
    }

    /// Names are the same on both sides.
    public static let asIs = KeyStyle()
    /// `createdAt` is `created-at` in the document.
    public static let dasherized = separated(by: UInt8(ascii: "-"))
    /// `createdAt` is `created_at` in the document.
    public static let underscored = separated(by: UInt8(ascii: "_"))

    /// `created_at` is `createdAt` in the document; names in camel case stay unchanged.
    public static let camel = KeyStyle(wireName: { camelCase($0, separator: UInt8(ascii: "_")) }, propertyName: { $0 })

    private static func separated(by separator: UInt8) -> KeyStyle {
        KeyStyle(wireName: { words(of: $0, separator: separator) }, propertyName: { camelCase($0, separator: separator) })
    }

    /// The name in the document for a property.
    public func wireName(of property: String) -> String { wire?(property) ?? property }
    /// The property for a name in the document.
    public func propertyName(of wire: String) -> String { property?(wire) ?? wire }

    /// The name in the document for a path through relationships, such as `comments.author`.
    public func wirePath(of path: String) -> String {
        guard wire != nil else { return path }
        return path.split(separator: ".", omittingEmptySubsequences: false).map { wireName(of: String($0)) }.joined(separator: ".")
    }

    var isIdentity: Bool { wire == nil }
}

/// Splits a name into lowercase words. A word starts at a capital next to a small letter: `htmlBody`, `HTMLBody`.
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

/// Joins words into one, capitalizing all but the first. A separator without a small letter after it stays.
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
