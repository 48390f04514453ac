import FeathersJSON

/// The meaning of a schema, in one of the few forms from which Swift types are created.
indirect enum Shape: Sendable {
    /// Only null.
    case null
    /// Any JSON; the text says why nothing narrower fits, for a comment.
    case any(String)
    case scalar(Scalar)
    case enumeration([String])
    /// Numbers that have names in the document.
    case numbers([NamedNumber])
    /// A list, with its elements' schema.
    case list(Schema?)
    /// An object with any keys, with the schema of its values.
    case dictionary(Schema?)
    case object(ObjectShape)
    case union(UnionShape)
    /// A reference to a schema that becomes a type of its own.
    case named(Schema)

    struct NamedNumber: Sendable {
        var name: String
        var value: Int64
    }

    enum Scalar: String, Sendable {
        case string = "String"
        case bool = "Bool"
        case int = "Int"
        case int32 = "Int32"
        case int64 = "Int64"
        case double = "Double"
        case float = "Float"
        case date = "Date"
        case uuid = "UUID"
        case url = "URL"
        case data = "Data"

        var isNumber: Bool { [.int, .int32, .int64, .double, .float].contains(self) }
        var isText: Bool { [.string, .date, .uuid, .url, .data].contains(self) }
        var needsFoundation: Bool { [.date, .uuid, .url, .data].contains(self) }
    }
}

/// An object with properties that are known.
struct ObjectShape: Sendable {
    var properties: [(name: String, schema: Schema)] = []
    var required: Set<String> = []
    /// Whether the schema expects further properties.
    var isOpen = false

    func schema(of property: String) -> Schema? { properties.first { $0.name.isExactly(property) }?.schema }
}

/// Several schemas, one of which applies, in the order in which they are tried.
struct UnionShape: Sendable {
    struct Alternative: Sendable {
        var schema: Schema
        var reading: Reading
        /// The value of the discriminator that stands for this alternative.
        var value: String?
    }

    var alternatives: [Alternative]
    /// The property that identifies the alternative.
    var discriminator: String?
}

/// A shape, and what else a schema says.
struct Reading: Sendable {
    var shape: Shape
    var isNullable = false
    /// Whether the schema leads to itself by references and alternatives alone.
    var isEndless = false
    /// A remark about what the shape leaves out, for a comment.
    var note: String?
}
