/// A service method: one of Feathers' six or a custom one.
///
/// Write custom methods as string literals: `"archive"`.
public enum ServiceMethod: Hashable, Sendable {
    case find, get, create, update, patch, remove
    /// A custom method. ``init(rawValue:)`` and literals never create it with one of the six names.
    case custom(String)

    /// Feathers' six methods, in the order of its documentation.
    package static let standard: [ServiceMethod] = [.find, .get, .create, .update, .patch, .remove]

    /// Whether this is a custom method.
    package var isCustom: Bool { if case .custom = self { true } else { false } }
}

extension ServiceMethod: RawRepresentable {
    /// Creates a method from its name on the wire.
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
