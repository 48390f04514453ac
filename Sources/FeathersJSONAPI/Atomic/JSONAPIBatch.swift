public import FeathersCore

/// A batch of operations that the server carries out together, all or none (Atomic Operations extension).
///
/// ```swift
/// var batch = JSONAPIBatch(codec: codec)
/// try batch.add(Person(lid: "author", name: "Ada"))
/// try batch.add(Post(title: "Notes", author: ToOne(identifier: JSONAPIIdentifier(type: "people", lid: "author"))))
/// let results = try await app.send(batch)
/// let post = try results[1].decode(Post.self)
/// ```
public struct JSONAPIBatch: Sendable {
    /// The operations, in the order they are carried out.
    public private(set) var operations: [JSONAPIOperation] = []
    let codec: JSONAPICodec

    /// A batch without operations; the codec makes resources of models, and should be the transport's.
    public init(codec: JSONAPICodec = JSONAPICodec()) {
        self.codec = codec
    }

    /// Appends any operation.
    public mutating func append(_ operation: JSONAPIOperation) {
        operations.append(operation)
    }

    /// Creates the resource of a model. With a `lid` later operations can point to it.
    /// - Throws: ``JSONAPIError`` where the model makes no resource.
    public mutating func add(_ model: some JSONAPIModel) throws {
        append(.add(try codec.resource(of: model)))
    }

    /// Changes the resource of a model.
    /// - Throws: ``JSONAPIError`` where the model makes no resource.
    public mutating func update(_ model: some JSONAPIModel) throws {
        append(.update(try codec.resource(of: model)))
    }

    /// Removes a resource.
    public mutating func remove(_ identifier: JSONAPIIdentifier) {
        append(.remove(identifier))
    }

    /// Changes what a relationship of a resource holds.
    /// - Parameters:
    ///   - property: the relationship's name, as a property has it.
    ///   - identifier: the resource whose relationship it is.
    ///   - code: `.add` and `.remove` change a to-many relationship, `.update` makes any hold something else.
    ///   - linkage: the targets to add or remove, or all there are to be.
    public mutating func relationship(
        _ property: String, of identifier: JSONAPIIdentifier, _ code: JSONAPIOperation.Code, _ linkage: JSONAPILinkage
    ) {
        append(.relationship(codec.keys.wireName(of: property), of: identifier, code, linkage))
    }
}

/// What came of one operation.
public struct JSONAPIOperationResult: Sendable {
    /// The resource as a plain record; nil where the server says nothing of it.
    public let record: JSONValue?
    let codec: JSONAPICodec

    /// The resource as a model.
    /// - Throws: ``JSONAPIError`` where it is none, or where the server says nothing of it.
    public func decode<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self) throws -> Model {
        guard let record else { throw JSONAPIError(.root, "The operation gave no resource") }
        return try codec.decode(type, from: record)
    }
}

extension FeathersApp {
    /// Has a batch of operations carried out; its results are in the order of its operations.
    ///
    /// It is a call of the service at the path of the operations, `runOperations`, and goes through its hooks. Where an operation fails, ``JSONAPIErrorObject/operationIndex`` of
    /// the error's ``FeathersError/jsonAPIErrors`` tells which.
    /// - Throws: `FeathersError.Code.methodNotAllowed` where the transport is told of no operations.
    @discardableResult
    public func send(_ batch: JSONAPIBatch, params: Params = Params()) async throws -> [JSONAPIOperationResult] {
        let path = transport?.component(JSONAPITransport.self)?.builder.options.operationsPath ?? "operations"
        let data: JSONValue = ["operations": .array(batch.operations.map(\.json))]
        let results = try await service(path).call(JSONAPIMethod.runOperations.serviceMethod, with: data, params: params)
        return (results.array ?? []).map { result in
            // Without the type nil would be JSON's null.
            let record: JSONValue? = result.object?.isEmpty == false ? .some(result) : .none
            return JSONAPIOperationResult(record: record, codec: batch.codec)
        }
    }
}
