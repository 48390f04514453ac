public import FeathersCore
import Foundation

/// A service whose records are instances of a JSON:API model.
///
/// ```swift
/// let posts = app.jsonAPI(Post.self)
/// let page = try await posts.find(
///     .including("author").sorted(by: "createdAt", .descending).limit(20))
/// try await posts.relationship("comments", ofID: "1").add([
///     JSONAPIIdentifier(type: "comments", id: "5")
/// ])
/// ```
///
/// Every call is a call of the path's service, so it runs through that service's hooks and throws its errors. A model
/// that cannot be converted to a valid resource throws `FeathersError.Code.badRequest`; a result that doesn't fit the
/// model throws `FeathersError.Code.generalError`. Both have the ``JSONAPIError`` as their cause.
///
/// ## Topics
///
/// ### Reading
/// - ``find(_:params:)``
/// - ``get(_:query:params:)``
/// - ``reload(_:query:params:)``
/// - ``pages(_:params:)``
///
/// ### Writing
/// - ``create(_:query:params:)``
/// - ``create(contentsOf:params:)``
/// - ``patch(_:with:query:params:)``
/// - ``remove(_:params:)``
///
/// ### Relationships
/// - ``relationship(_:ofID:links:)``
public struct JSONAPIService<Model: JSONAPIModel>: Sendable {
    /// The same service with JSON as its records.
    public let service: Service<JSONValue>
    /// The codec that converts models to records and back.
    public let codec: JSONAPICodec

    /// Creates a service for a model. `app.jsonAPI(Model.self)` is shorthand that uses the transport's codec.
    public init(_ service: Service<JSONValue>, of model: Model.Type = Model.self, codec: JSONAPICodec = JSONAPICodec())
    {
        self.service = service
        self.codec = codec
    }
}

extension FeathersApp {
    /// Returns the service for a model's resources. By default, its path is the model's type.
    public func jsonAPI<Model: JSONAPIModel>(_ model: Model.Type, at path: String? = nil) -> JSONAPIService<Model> {
        JSONAPIService(
            service(path ?? model.type), codec: transport?.component(JSONAPITransport.self)?.codec ?? JSONAPICodec())
    }
}

extension JSONAPIService {
    /// Returns one page of the resources that match a query.
    @concurrent
    public func find(_ query: Query<JSONValue> = Query(), params: Params = Params()) async throws -> JSONAPIPage<Model>
    {
        let response = try await service.response(to: .find, query: query, params: params)
        if let document = response.receivedDocument, let models = document.decodeList(of: Model.self, with: codec) {
            return JSONAPIPage(
                data: models, total: document.total, links: document.links, meta: document.meta,
                cursors: document.cursors,
                url: document.url, service: self, params: params)
        }
        let json = response.result
        let page = try Page(json: json)
        let note = json["@document"]
        return JSONAPIPage(
            data: try page.data.map { try decode($0, of: .find) }, total: page.total,
            links: JSONAPILinks(reading: note?["links"]),
            meta: note?["meta"]?.object, cursors: page.data.map { $0["@meta"]?["page"]?["cursor"]?.string },
            url: note?["url"]?.string,
            service: self, params: params)
    }

    /// Reads one resource.
    @concurrent
    public func get(
        _ id: some ServiceIDConvertible & Sendable, query: Query<JSONValue> = Query(), params: Params = Params()
    ) async throws
        -> Model
    {
        try decode(await service.response(to: .get, id: id.serviceID, query: query, params: params), of: .get)
    }

    /// Creates a resource. The targets of its relationships must have ids, and are not saved.
    ///
    /// If the server returns no content, the result is the model that was sent.
    @concurrent @discardableResult
    public func create(_ model: Model, query: Query<JSONValue> = Query(), params: Params = Params()) async throws
        -> Model
    {
        try decode(await service.response(to: .create, data: encode(model), query: query, params: params), of: .create)
    }

    /// Creates several resources in one batch, all or none. The server must support the Atomic Operations extension.
    @concurrent @discardableResult
    public func create(contentsOf models: [Model], params: Params = Params()) async throws -> [Model] {
        let records = try await service.create(contentsOf: models.map(encode), params: params)
        return try records.map { try decode($0, of: .create) }
    }

    /// Changes a resource. Absent properties stay unchanged; see `Presence`.
    /// - Returns: The changed resource, or nil if the server doesn't send it.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with changes: some JSONAPIModel, query: Query<JSONValue> = Query(),
        params: Params = Params()
    ) async throws -> Model? {
        let sent = try encode(changes)
        let response = try await service.response(
            to: .patch, id: id.serviceID, data: sent, query: query, params: params)
        if response.receivedDocument == nil, response.result["@document"]?["isSent"] == true { return nil }
        return try decode(response, of: .patch)
    }

    /// Removes a resource.
    @concurrent
    public func remove(_ id: some ServiceIDConvertible & Sendable, params: Params = Params()) async throws {
        _ = try await service.remove(id, params: params)
    }

    /// Reads a resource again.
    @concurrent
    public func reload(_ model: Model, query: Query<JSONValue> = Query(), params: Params = Params()) async throws
        -> Model
    {
        guard let id = model.id.jsonAPIText else {
            throw FeathersError(.badRequest, "A \(Model.self) without an id cannot be reloaded", execution: .neverSent)
        }
        return try await get(id, query: query, params: params)
    }

    private func encode(_ model: some JSONAPIModel) throws -> JSONValue {
        do {
            return try codec.encode(model)
        } catch let error as JSONAPIError {
            throw FeathersError(
                .badRequest, "The model is not a valid resource: \(error)", execution: .neverSent, cause: error)
        }
    }

    private func decode(_ response: ServiceResponse, of method: ServiceMethod) throws -> Model {
        try response.receivedDocument?.decode(Model.self, with: codec) ?? decode(response.result, of: method)
    }

    private func decode(_ json: JSONValue, of method: ServiceMethod) throws -> Model {
        try codec.decode(json, as: "The result of '\(method)' on service '\(service.path)'")
    }
}

extension JSONAPICodec {
    func decode<Model: JSONAPIRelatable>(_ json: JSONValue, as what: @autoclosure () -> String) throws -> Model {
        do {
            return try decode(Model.self, from: json)
        } catch let error as JSONAPIError {
            throw FeathersError(.generalError, "\(what()) cannot be decoded as \(Model.self): \(error)", cause: error)
        }
    }
}

/// One page of resources, with access to the other pages.
public struct JSONAPIPage<Model: JSONAPIModel>: Sendable {
    /// The resources.
    public let data: [Model]
    /// The total number of matching resources; nil if the server doesn't send it.
    public let total: Int?
    /// The document's links.
    public let links: JSONAPILinks
    /// The document's meta.
    public let meta: JSONObject?
    /// The cursors of the resources, if the server sends them.
    public let cursors: [String?]
    /// The URL of this page, to which its links are relative.
    let url: String?
    let service: JSONAPIService<Model>
    let params: Params

    /// Whether the server links to a next page.
    public var hasNext: Bool { links["next"]?.href != nil }
    /// Whether the server links to a previous page.
    public var hasPrevious: Bool { links["prev"]?.href != nil }

    /// Reads the next page; nil if this is the last one.
    public func next() async throws -> JSONAPIPage? { try await page("next") }
    /// Reads the previous page; nil if this is the first one.
    public func previous() async throws -> JSONAPIPage? { try await page("prev") }
    /// Reads the first page; nil if the server doesn't link to it.
    public func first() async throws -> JSONAPIPage? { try await page("first") }
    /// Reads the last page; nil if the server doesn't link to it.
    public func last() async throws -> JSONAPIPage? { try await page("last") }

    private func page(_ name: String) async throws -> JSONAPIPage? {
        guard let target = links.url(name, relativeTo: url.flatMap(URL.init(string:))) else { return nil }
        return try await service.find(.link(target.absoluteString), params: params)
    }

    /// Whether the page size was too small for all resources between two cursors (cursor pagination profile).
    public var isRangeTruncated: Bool { meta?["page"]?["rangeTruncated"]?.bool ?? false }

    /// The server's estimate of the total, if it doesn't count exactly (cursor pagination profile).
    public var estimatedTotal: Int? {
        meta?["page"]?["estimatedTotal"]?["bestGuess"]?.integer.flatMap { Int(exactly: $0) }
    }
}

extension JSONAPIPage: RandomAccessCollection {
    public var startIndex: Int { data.startIndex }
    public var endIndex: Int { data.endIndex }
    public subscript(position: Int) -> Model { data[position] }
}

extension JSONAPIService {
    /// Returns all pages of a query. Each page is read when it is requested.
    ///
    /// ```swift
    /// for try await page in posts.pages(.limit(100)) { … }
    /// ```
    public func pages(_ query: Query<JSONValue> = Query(), params: Params = Params()) -> JSONAPIPages<Model> {
        JSONAPIPages(service: self, query: query, params: params, scope: UserScope.current)
    }
}

/// All pages of a query, in order.
public struct JSONAPIPages<Model: JSONAPIModel>: AsyncSequence, Sendable {
    public typealias Element = JSONAPIPage<Model>

    let service: JSONAPIService<Model>
    let query: Query<JSONValue>
    let params: Params
    /// For whom the pages were created.
    let scope: UserScope?

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }

    /// An iterator that reads one page at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let pages: JSONAPIPages
        fileprivate var current: JSONAPIPage<Model>?
        fileprivate var hasStarted = false

        public mutating func next() async throws -> JSONAPIPage<Model>? {
            let last = current
            if hasStarted, last == nil { return nil }
            hasStarted = true
            let next = try await UserScope.run(in: pages.scope) { [pages] in
                if let last { return try await last.next() }
                return try await pages.service.find(pages.query, params: pages.params)
            }
            current = next
            return next
        }
    }
}
