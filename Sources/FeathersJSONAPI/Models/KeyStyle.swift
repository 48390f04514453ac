/// How the names of fields in a document follow from the names of properties, and back.
///
/// It is applied to the names of attributes and relationships, and to the fields a query names; never to types of resources.
public struct KeyStyle: Sendable {
    private let wire: (@Sendable (String) -> String)?
    private let property: (@Sendable (String) -> String)?

    private init() {
        wire = nil
        property = nil
    }

    /// A style of your own.
    /// - Parameters:
    ///   - wireName: gives the name in the document for a property.
    ///   - propertyName: gives the name of the property for a name in the document; it is needed for plain records alone, models name
    ///     their properties themselves.
    public init(wireName: @escaping @Sendable (String) -> String, propertyName: @escaping @Sendable (String) -> String) {
        wire = wireName
        property = propertyName
    }

    /// Names are the same on both sides.
    public static let asIs = KeyStyle()

    /// `createdAt` is `created-at` in the document.
    public static let dasherized = KeyStyle(wireName: { words(of: $0, separator: "-") }, propertyName: { camelCase($0, separator: "-") })

    /// `createdAt` is `created_at` in the document.
    public static let underscored = KeyStyle(wireName: { words(of: $0, separator: "_") }, propertyName: { camelCase($0, separator: "_") })

    /// `created_at` is `createdAt` in the document; what is written so already stays.
    public static let camel = KeyStyle(wireName: { camelCase($0, separator: "_") }, propertyName: { $0 })

    /// The name in the document for a property.
    public func wireName(of property: String) -> String {
        wire?(property) ?? property
    }

    /// The name of the property for a name in the document.
    public func propertyName(of wire: String) -> String {
        property?(wire) ?? wire
    }

    /// The name in the document for a path through relationships, `comments.author`, each part for itself.
    public func wirePath(of path: String) -> String {
        guard wire != nil else { return path }
        return path.split(separator: ".", omittingEmptySubsequences: false).map { wireName(of: String($0)) }.joined(separator: ".")
    }

    /// Whether names are the same on both sides, so that nothing has to be translated.
    var isIdentity: Bool { wire == nil }
}

/// Lowercased words. One starts at a capital after a small letter, and at a capital before one: `htmlBody`, `HTMLBody`.
private func words(of name: String, separator: UInt8.ASCII) -> String {
    let bytes = Array(name.utf8)
    var text: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
        guard byte.isCapital else {
            text.append(byte)
            continue
        }
        let followsSmall = index > 0 && bytes[index - 1].isSmall
        let precedesSmall = index + 1 < bytes.count && bytes[index + 1].isSmall
        if index > 0, followsSmall || precedesSmall, text.last != separator.byte { text.append(separator.byte) }
        text.append(byte | 0x20)
    }
    return String(decoding: text, as: UTF8.self)
}

/// One word, its parts from the second on with a capital. A separator that no small letter follows stays.
private func camelCase(_ name: String, separator: UInt8.ASCII) -> String {
    var text: [UInt8] = []
    var rest = Array(name.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == separator.byte, !text.isEmpty, let next = rest.first, next.isSmall {
            rest.removeFirst()
            text.append(next & ~0x20)
        } else {
            text.append(byte)
        }
    }
    return String(decoding: text, as: UTF8.self)
}

extension UInt8 {
    /// One character of a literal, as its byte.
    fileprivate struct ASCII: ExpressibleByUnicodeScalarLiteral {
        let byte: UInt8

        init(unicodeScalarLiteral value: Unicode.Scalar) {
            byte = UInt8(ascii: value)
        }
    }

    fileprivate var isCapital: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
    fileprivate var isSmall: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }
}
