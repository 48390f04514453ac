public import FeathersCore

/// One operation of a batch (Atomic Operations extension, `https://jsonapi.org/ext/atomic`).
public struct JSONAPIOperation: Hashable, Sendable {
    /// What is done.
    public enum Code: String, Hashable, Sendable {
        case add, update, remove
    }

    /// What it is done to.
    public enum Target: Hashable, Sendable {
        /// A resource, or a relationship of one.
        case ref(JSONAPIIdentifier, relationship: String?)
        /// An address: of a collection, a resource or a relationship.
        case href(String)
    }

    /// What is done.
    public var code: Code
    /// nil where the data themselves say what they are for.
    public var target: Target?
    /// nil where there are none, which is not the same as null.
    public var data: JSONAPIDocument.Data?
    /// What is said beside.
    public var meta: JSONObject?

    /// An operation as the extension has it; the parameters are the properties of the same names.
    public init(_ code: Code, _ target: Target? = nil, data: JSONAPIDocument.Data? = nil, meta: JSONObject? = nil) {
        self.code = code
        self.target = target
        self.data = data
        self.meta = meta
    }

    /// Creates a resource. With a `lid` later operations can point to it.
    public static func add(_ resource: JSONAPIResource, to href: String? = nil) -> JSONAPIOperation {
        JSONAPIOperation(.add, href.map(Target.href), data: .one(resource))
    }

    /// Changes a resource.
    public static func update(_ resource: JSONAPIResource) -> JSONAPIOperation {
        JSONAPIOperation(.update, data: .one(resource))
    }

    /// Removes a resource.
    public static func remove(_ identifier: JSONAPIIdentifier) -> JSONAPIOperation {
        JSONAPIOperation(.remove, .ref(identifier, relationship: nil))
    }

    /// Changes a relationship: `.add` and `.remove` change a to-many one, `.update` makes it hold something else.
    /// - Parameters:
    ///   - name: the relationship's name as it stands in documents.
    ///   - identifier: the resource whose relationship it is.
    ///   - code: what is done to it.
    ///   - linkage: the targets to add or remove, or all there are to be.
    public static func relationship(
        _ name: String, of identifier: JSONAPIIdentifier, _ code: Code, _ linkage: JSONAPILinkage
    ) -> JSONAPIOperation {
        JSONAPIOperation(code, .ref(identifier, relationship: name), data: JSONAPIDocument(linkage: linkage).data)
    }

    /// The operation as it stands in a document.
    public var json: JSONValue {
        var json: JSONObject = ["op": .string(code.rawValue)]
        switch target {
        case .ref(var identifier, let relationship)?:
            identifier.meta = nil
            var ref = identifier.json
            ref["relationship"] = relationship.map(JSONValue.string)
            json["ref"] = ref
        case .href(let href)?: json["href"] = .string(href)
        case nil: break
        }
        if let data { json["data"] = data.json }
        if let meta { json["meta"] = .object(meta) }
        return .object(json)
    }
}

extension JSONAPIErrorObject {
    /// The number of the operation, from 0, that caused the error; nil where its pointer leads to none.
    public var operationIndex: Int? {
        guard let tokens = source?.pointer.flatMap(JSONPointer.init)?.tokens, tokens.first == "atomic:operations" else { return nil }
        return tokens.dropFirst().first.flatMap { Int($0) }
    }
}
