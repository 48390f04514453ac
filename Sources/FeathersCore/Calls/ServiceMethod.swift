/// The name of a service method: one of Feathers' six, or a custom one.
///
/// Custom methods are spelled as literals: `"archive"`.
public struct ServiceMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        self.rawValue = value
    }

    public static let find = ServiceMethod(rawValue: "find")
    public static let get = ServiceMethod(rawValue: "get")
    public static let create = ServiceMethod(rawValue: "create")
    public static let update = ServiceMethod(rawValue: "update")
    public static let patch = ServiceMethod(rawValue: "patch")
    public static let remove = ServiceMethod(rawValue: "remove")

    /// Feathers' six methods, in the order its documentation names them.
    public static let standard: [ServiceMethod] = [.find, .get, .create, .update, .patch, .remove]

    /// Whether this is none of Feathers' six methods.
    public var isCustom: Bool {
        switch rawValue {
        case "find", "get", "create", "update", "patch", "remove": false
        default: true
        }
    }

    public var description: String { rawValue }
}
