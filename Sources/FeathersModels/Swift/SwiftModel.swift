/// A type in generated code.
indirect enum SwiftType: Hashable {
    case scalar(Shape.Scalar)
    case json
    case named(String)
    case list(SwiftType)
    case dictionary(SwiftType)
    case optional(SwiftType)

    /// Returns the type as written inside another type, whose own nested types need no prefix.
    func text(in path: String = "") -> String {
        switch self {
        case .scalar(let scalar): return scalar.rawValue
        case .json: return "JSONValue"
        case .named(let name):
            let own = name.hasPrefix(path + ".") ? String(name.dropFirst(path.count + 1)) : name
            return own.contains(".") ? name : own
        case .list(let element): return "[\(element.text(in: path))]"
        case .dictionary(let value): return "[String: \(value.text(in: path))]"
        case .optional(let wrapped): return "\(wrapped.text(in: path))?"
        }
    }

    /// The names of generated types in this type.
    var names: Set<String> {
        switch self {
        case .scalar, .json: []
        case .named(let name): [name]
        case .list(let inner), .dictionary(let inner), .optional(let inner): inner.names
        }
    }

    /// The generated type that a value of this type stores directly or in an optional.
    var stored: String? {
        switch self {
        case .named(let name): name
        case .optional(let wrapped): wrapped.stored
        case .scalar, .json, .list, .dictionary: nil
        }
    }

    var needsFoundation: Bool {
        switch self {
        case .scalar(let scalar): scalar.needsFoundation
        case .json, .named: false
        case .list(let inner), .dictionary(let inner), .optional(let inner): inner.needsFoundation
        }
    }
}

/// A property of a generated structure.
struct SwiftProperty {
    /// How a property may lack a value.
    enum Presence {
        /// The property always has a value.
        case required
        /// The property may be left out or null. Both are nil.
        case optional
        /// The property must be there, but may be null.
        case nullable
        /// In a patch: the property is left out, null, or a value.
        case patch
    }

    var name: String
    var key: String
    var type: SwiftType
    var presence: Presence
    var comment: [String] = []
    /// The only case that the property can have, as its initial value.
    var constant: String?
    /// Whether the property needs indirect storage, because its type contains the structure.
    var isIndirect = false
}

/// A generated structure, with the types that are declared inside it.
struct SwiftStructure {
    /// The name, with those of the enclosing types: `Message.Attachment`.
    var path: String
    var comment: [String] = []
    var properties: [SwiftProperty] = []
    var nested: [SwiftDeclaration] = []
    /// The properties that only a service's model has.
    var model: ModelFacts?

    struct ModelFacts {
        var createData: SwiftType
        var patchData: SwiftType
        /// The property with the record's id, by its name in Swift.
        var id: String?
        /// The properties that queries may name and their keys; nil if they are those of the model.
        var queryKeys: [(name: String, key: String)]?
    }
}

/// A generated enumeration of strings or numbers.
struct SwiftEnumeration {
    var path: String
    var comment: [String] = []
    /// `String` or `Int`.
    var rawType: String
    /// The cases and their values, as Swift writes them.
    var cases: [(name: String, literal: String)]
    /// The case for values that are not listed.
    var unknown: String
}

/// A generated enumeration with one case for each alternative type.
struct SwiftUnion {
    struct Case {
        var name: String
        var type: SwiftType
        /// The discriminator's value.
        var value: String?
    }

    var path: String
    var comment: [String] = []
    var cases: [Case]
    var discriminator: String?
    /// The case for values of the discriminator that are not listed.
    var unknown: String
    var nested: [SwiftDeclaration] = []
    var isIndirect = false
}

/// A generated type.
indirect enum SwiftDeclaration {
    case structure(SwiftStructure)
    case enumeration(SwiftEnumeration)
    case union(SwiftUnion)

    var path: String {
        switch self {
        case .structure(let structure): structure.path
        case .enumeration(let enumeration): enumeration.path
        case .union(let union): union.path
        }
    }

    var nested: [SwiftDeclaration] {
        switch self {
        case .structure(let structure): structure.nested
        case .enumeration: []
        case .union(let union): union.nested
        }
    }

    /// This type and those inside it.
    var all: [SwiftDeclaration] { [self] + nested.flatMap(\.all) }

    /// The types of its own properties or cases, and of the data that the service takes.
    var types: [SwiftType] {
        switch self {
        case .structure(let structure):
            structure.properties.map(\.type) + (structure.model.map { [$0.createData, $0.patchData] } ?? [])
        case .enumeration: []
        case .union(let union): union.cases.map(\.type)
        }
    }
}

/// A service as it is written: its types and its definition.
struct SwiftService {
    var path: String
    /// The parameters in the path, `teamId` of `teams/:teamId/members`.
    var parameters: [String]
    /// The static property that stands for the service.
    var name: String
    /// The key of the id.
    var id: String
    var model: String
    var types: [SwiftDeclaration]
    /// The relations of the model.
    var relations: [SwiftRelation] = []

    /// The model's declaration.
    var structure: SwiftStructure? { if case .structure(let model)? = types.first { model } else { nil } }
}

/// A relation of a model to the records of a service.
struct SwiftRelation {
    var name: String
    /// The arguments of the call that makes it.
    var arguments: String
    var comment: String

    init(
        name: String, to service: SwiftService, isList: Bool, by label: String, _ property: String,
        embedded: String? = nil, comment: String
    ) {
        let path = SwiftWriter.literal(service.path)
        arguments = "\(isList ? "toMany" : "to"): \(service.model).self, at: \(path), \(label): .\(property)"
        if service.id != "id" { arguments += ", id: \(SwiftWriter.literal(service.id))" }
        if let embedded { arguments += ", embedded: \(SwiftWriter.literal(embedded))" }
        (self.name, self.comment) = (name, comment)
    }
}
