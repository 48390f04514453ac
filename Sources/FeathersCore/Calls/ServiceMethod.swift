/// A service method: one of Feathers' six, or a custom one.
///
/// Custom methods are spelled as literals: `"archive"`.
public enum ServiceMethod: Hashable, Sendable {
    case find, get, create, update, patch, remove
    /// A method of the service's own. Never holds one of the six names when made by ``init(rawValue:)`` or a literal.
    case custom(String)

    /// Feathers' six methods, in the order its documentation names them.
    package static let standard: [ServiceMethod] = [.find, .get, .create, .update, .patch, .remove]

    /// Whether this is none of Feathers' six methods.
    package var isCustom: Bool { if case .custom = self { true } else { false } }
}

extension ServiceMethod: RawRepresentable {
    /// The method of a name as it stands on the wire.
    public init(rawValue: String) {
        self =
            switch rawValue {
            case "find": .find
            case "get": .get
            case "create": .create
            case "update": .update
            case "patch": .patch
            case "remove": .remove
            default: .custom(rawValue)
            }
    }

    public var rawValue: String {
        switch self {
        case .find: "find"
        case .get: "get"
        case .create: "create"
        case .update: "update"
        case .patch: "patch"
        case .remove: "remove"
        case .custom(let name): name
        }
    }
}

extension ServiceMethod: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    public var description: String { rawValue }
}
