public import FeathersCore

/// The writes of a typed service through its app's outbox; see ``OutboxService``.
public struct OutboxTypedService<Model: Codable & Sendable>: Sendable {
    let service: TypedService<Model>

    /// Creates a record from a model or from any other encodable value.
    @discardableResult
    public func create(
        _ data: some Encodable, _ query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.create(encode(data), query, route: route))
    }

    /// Replaces a record, after all that is to be done to it before.
    @discardableResult
    public func update(
        _ id: some ServiceIDConvertible, with data: some Encodable, _ query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.update(id, with: encode(data), query, route: route))
    }

    /// Merges the properties of a dictionary, or of any encodable value, into a record, after all that is to be done to it before.
    @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible, with data: some Encodable, _ query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.patch(id, with: encode(data), query, route: route))
    }

    /// Merges JSON into a record: the form for patches with values of several kinds.
    @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible, with data: JSONValue, _ query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.patch(id, with: data, query, route: route))
    }

    /// Removes a record, after all that is to be done to it before.
    @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible, _ query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.remove(id, query, route: route))
    }

    private func encode(_ data: some Encodable) throws -> JSONValue {
        try service.codec(for: Params()).encode(data)
    }

    private func model(_ write: QueuedWrite<JSONValue>) -> QueuedWrite<Model> {
        let service = service
        return write.map { try service.decodeResult($0, Params()) }
    }
}

extension TypedService {
    /// The service's writes through the app's outbox.
    public var outbox: OutboxTypedService<Model> { OutboxTypedService(service: self) }
}
