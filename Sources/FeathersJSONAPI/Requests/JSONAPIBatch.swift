public import FeathersCore

/// A batch of operations that the server performs atomically: all or none (Atomic Operations extension).
///
/// ```swift
/// var batch = JSONAPIBatch(codec: codec)
/// try batch.add(Person(lid: "author", name: "Ada"))
/// try batch.add(
///     Post(
///         title: "Notes",
///         author: ToOne(identifier: JSONAPIIdentifier(type: "people", lid: "author"))))
/// let results = try await app.send(batch)
/// let post = try results[1].decode(Post.self)
/// ```
public struct JSONAPIBatch: Sendable {
    /// The operations, in the order in which they are performed.
    public private(set) var operations: [JSONAPIOperation] = []
    let codec: JSONAPICodec

    /// Creates an empty batch. The codec converts models to resources, and should be the transport's codec.
    public init(codec: JSONAPICodec = JSONAPICodec()) { self.codec = codec }

    /// Appends an operation.
    public mutating func append(_ operation: JSONAPIOperation) { operations.append(operation) }

    /// Creates the resource of a model. Later operations can refer to it by its `lid`.
    /// - Throws: ``JSONAPIError`` if the model cannot be converted to a valid resource.
    public mutating func add(_ model: some JSONAPIModel) throws { append(.add(try codec.resource(of: model))) }

    /// Changes the resource of a model.
    /// - Throws: ``JSONAPIError`` if the model cannot be converted to a valid resource.
    public mutating func update(_ model: some JSONAPIModel) throws { append(.update(try codec.resource(of: model))) }

    /// Removes a resource.
    public mutating func remove(_ identifier: JSONAPIIdentifier) { append(.remove(identifier)) }

    /// Changes the relationship of a property: `.add` and `.remove` change a to-many relationship, `.update` replaces
    /// the contents of any.
    public mutating func relationship(
        _ property: String, of identifier: JSONAPIIdentifier, _ code: JSONAPIOperation.Code, _ linkage: JSONAPILinkage
    ) {
        append(.relationship(codec.keys.wireName(of: property), of: identifier, code, linkage))
    }
}

/// One operation of a batch (Atomic Operations extension, `https://jsonapi.org/ext/atomic`).
public struct JSONAPIOperation: Hashable, Sendable {
    /// The kind of operation.
    public enum Code: String, Hashable, Sendable {
        case add, update, remove
    }

    /// The target of an operation.
    public enum Target: Hashable, Sendable {
        /// A resource, or a relationship of a resource.
        case ref(JSONAPIIdentifier, relationship: String?)
        /// The URL of a collection, a resource, or a relationship.
        case href(String)
    }

    /// The kind of operation.
    public var code: Code
    /// The target; nil if the data identifies it.
    public var target: Target?
    /// The data; nil if there isn't any, which differs from null.
    public var data: JSONAPIDocument.Data?
    /// The metadata of the operation.
    public var meta: JSONObject?

    /// Creates an operation.
    public init(_ code: Code, _ target: Target? = nil, data: JSONAPIDocument.Data? = nil, meta: JSONObject? = nil) {
        self.code = code
        self.target = target
        self.data = data
        self.meta = meta
    }

    /// Creates a resource. Later operations can refer to it by its `lid`.
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

    /// Changes a relationship, given by its name in documents: `.add` and `.remove` change a to-many one, `.update`
    /// replaces the contents of any.
    public static func relationship(
        _ name: String, of identifier: JSONAPIIdentifier, _ code: Code, _ linkage: JSONAPILinkage
    ) -> JSONAPIOperation {
        JSONAPIOperation(code, .ref(identifier, relationship: name), data: JSONAPIDocument(linkage: linkage).data)
    }

    /// The operation as JSON.
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
        json["data"] = data?.json
        json["meta"] = meta.map(JSONValue.object)
        return .object(json)
    }
}

/// The result of one operation.
public struct JSONAPIOperationResult: Sendable {
    /// The resource as a plain record; nil if the server sent none.
    public let record: JSONValue?
    let codec: JSONAPICodec

    /// Decodes the resource into a model.
    /// - Throws: ``JSONAPIError`` if the resource does not fit the model, or if the server sent none.
    public func decode<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self) throws -> Model {
        guard let record else { throw JSONAPIError(.root, "The operation did not return a resource") }
        return try codec.decode(type, from: record)
    }
}

extension FeathersApp {
    /// Sends a batch of operations and returns their results in the same order.
    ///
    /// The batch is a call of `runOperations` on the service at the path of the operations, and runs through its hooks.
    /// If an operation fails, ``JSONAPIErrorObject/operationIndex`` in the error's ``FeathersError/jsonAPIErrors``
    /// identifies it.
    /// - Throws: `FeathersError.Code.methodNotAllowed` if the transport's options do not set a path for operations.
    @discardableResult
    public func send(_ batch: JSONAPIBatch, params: Params = Params()) async throws -> [JSONAPIOperationResult] {
        let path = transport?.component(JSONAPITransport.self)?.builder.options.operationsPath ?? "operations"
        let data: JSONValue = ["operations": .array(batch.operations.map(\.json))]
        let results = try await service(path).call(
            JSONAPIMethod.runOperations.serviceMethod, with: data, params: params)
        return (results.array ?? []).map { result in
            // Without the type annotation, nil would become JSON null.
            let record: JSONValue? = result.object?.isEmpty == false ? .some(result) : .none
            return JSONAPIOperationResult(record: record, codec: batch.codec)
        }
    }
}
