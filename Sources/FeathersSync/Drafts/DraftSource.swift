import FeathersCore

/// Where a draft comes from and is sent to: a record of a service, and the user who edits it.
struct DraftSource<Model: Codable & Sendable>: Sendable {
    /// The user for whom a draft was made.
    enum Owner: Sendable, Hashable {
        /// The app's user; nil if no one was signed in.
        case user(Identity?)
        /// The user of the credentials in the draft's params.
        case ofParams
    }

    /// A record as the server has reported it.
    struct Record: Sendable {
        let model: Model
        /// The tag that a write can name as its condition; nil if there is none.
        let tag: String?
    }

    let service: Service<Model>
    let id: ServiceID
    let params: Params
    private(set) var owner: Owner

    /// Creates the source of a draft that is made now.
    /// - Throws: ``FeathersError/Code/notAuthenticated`` if the app requires a token and there is none.
    init(_ service: Service<Model>, _ id: ServiceID, _ params: Params) async throws(FeathersError) {
        // Later calls may be made outside the scope of the token.
        let params = params.withScopedToken(of: service.app)
        (self.service, self.id, self.params) = (service, id, params)
        let request = ServiceRequest(path: service.path, method: .get, id: id, params: params)
        let isForAnotherUser = params.token != nil || request.isForAnotherUser(in: service.app)
        if !isForAnotherUser {
            try service.app.requireOwnUser(for: "A draft of record '\(id)' of service '\(service.path)'")
        }
        owner = isForAnotherUser ? .ofParams : .user(await service.app.resolvedIdentity())
    }

    /// Reads the record for the first time.
    mutating func begin() async throws -> Record {
        let request = ServiceRequest(path: service.path, method: .get, id: id, params: params)
        let response = try await service.respond(to: request)
        // The read may have signed in.
        if case .user = owner { owner = .user((response[SentAs.self] ?? service.app.currentSender).identity) }
        return try record(response, to: request)
    }

    /// Reads the record from the server.
    func read() async throws -> Record {
        let sender = try await sender()
        var request = ServiceRequest(path: service.path, method: .get, id: try sentID(), params: params)
        request.params.readsFromServer = true
        let response = try await respond(to: request, as: sender)
        return try record(response, to: request)
    }

    /// Sends properties.
    /// - Parameters:
    ///   - base: The record that the properties belong to. What the response leaves out stays as it is there.
    ///   - tag: The tag of that record; nil to send the properties without a condition.
    /// - Returns: Nil if the response contains no record.
    func patch(_ changes: JSONObject, of base: JSONObject, expecting tag: String?) async throws -> Record? {
        var request = ServiceRequest(
            path: service.path, method: .patch, id: try sentID(), data: .object(changes), params: params)
        if let tag { request.params.expect(tag) }
        let response = try await respond(to: request, as: sender())
        // Such a service says nothing about the record.
        if response.result.isNull || service.app.servicesWithOtherResponses.contains(service.path) { return nil }
        let result = try checked(response, to: request)
        let patched = JSONValue.object(base).applying(.object(changes)).applying(result)
        return Record(
            model: try decode(patched.object ?? base), tag: EntityTags.tag(of: response, to: request))
    }

    private func respond(to request: ServiceRequest, as sender: RequestSender?) async throws -> ServiceResponse {
        guard let sender else { return try await service.respond(to: request) }
        var request = request
        // If the user changes before the request is sent, the call fails.
        request.sender = sender
        return try await service.app.asOwnWork { try await service.respond(to: request) }
    }

    /// Returns the record of a response without its envelope.
    private func checked(_ response: ServiceResponse, to request: ServiceRequest) throws -> JSONValue {
        // Without its envelope, the response is no record either.
        let result = (try? response.result.unwrapped(by: service.rootKeys)) ?? .bool(false)
        let id = service.idProperty
        try request.checkRecord(in: result, id == "id" ? [id, "_id"] : [id])
        return result
    }

    private func record(_ response: ServiceResponse, to request: ServiceRequest) throws -> Record {
        _ = try checked(response, to: request)
        return Record(
            model: try service.decodeResult(response.result, of: request.method, params),
            tag: EntityTags.tag(of: response, to: request))
    }

    /// Returns the sender of the draft's calls; nil if they carry their own credentials.
    /// - Throws: ``FeathersError/Code/notAuthenticated`` if the draft was made for another user.
    private func sender() async throws(FeathersError) -> RequestSender? {
        guard case .user(let identity) = owner else { return nil }
        let sender = await service.app.resolvedSender()
        guard sender.identity == identity else { throw error(.notAuthenticated, Self.foreign) }
        return sender
    }

    /// - Throws: ``FeathersError/Code/notAuthenticated`` if the draft was made for another user.
    func checkUser(_ identity: Identity?) throws(FeathersError) {
        if case .user(let own) = owner, own != identity { throw error(.notAuthenticated, Self.foreign) }
    }

    private static var foreign: String { "was made for a user who is no longer signed in" }

    /// Returns an error about the draft, which was not sent.
    func error(_ code: FeathersError.Code, _ what: String, cause: (any Error)? = nil) -> FeathersError {
        FeathersError(
            code, "The draft of record '\(id)' of service '\(service.path)' \(what)", execution: .neverSent,
            cause: cause)
    }
}

// MARK: - The outbox

extension DraftSource {
    /// Whether the record's creation is still in the outbox.
    private var isUnsent: Bool {
        service.app.outbox?.withState { $0.names.isQueued(id, service.path, params.route) } ?? false
    }

    /// Returns the id by which the server knows the record.
    /// - Throws: ``FeathersError/Code/conflict`` if the record's creation is still in the outbox.
    private func sentID() throws(FeathersError) -> ServiceID {
        guard !isUnsent else {
            throw error(.conflict, "cannot be saved before the record is created: queue the changes")
        }
        return service.app.outbox?.withState { $0.names[id, service.path, params.route]?.id } ?? id
    }

    /// Waits until the record's creation has left the outbox.
    /// - Returns: A live query of the record, and its key.
    /// - Throws: ``FeathersError/Code/notAuthenticated`` if another user signs in.
    func live() async throws -> (query: LiveQuery<Model>, id: ServiceID) {
        if isUnsent, let outbox = service.app.outbox {
            for await _ in outbox.stateUpdates() {
                try checkUser(service.app.identity)
                if !isUnsent { break }
            }
            try Task.checkCancellation()
        }
        var query = service.ownLive(params: params, stores: false)
        query.source.relation = RelationSource(property: service.idProperty, owner: nil)
        return (query, try sentID())
    }

    /// Queues a patch in the app's outbox.
    /// - Parameters:
    ///   - base: The record that the properties belong to.
    ///   - tag: Its tag, if it has one.
    func queue(_ changes: JSONObject, madeOn base: JSONObject, _ tag: String?) async throws -> QueuedWrite<Model> {
        let app = service.app
        guard case .user(let identity) = owner else {
            throw error(.badRequest, "has credentials of its own, but a queued write belongs to the app's user")
        }
        try await checkUser(app.resolvedIdentity())
        if let field = lostField { throw error(.badRequest, "has the header field '\(field)', which no outbox keeps") }
        var draft = Outbox.Draft(
            method: .patch, recordID: id, data: .object(changes), query: params.query, route: params.route)
        draft.base = Outbox.Draft.Base(record: .object(base), tag: tag)
        let write = try await app.asOwnWork { [draft] in try await service.outbox.add(draft, as: identity) }
        return write.mapping { [service] in try service.decodeResult($0, of: .patch, Params()) }
    }

    /// The header field that a queued write would lose.
    private var lostField: String? {
        var request = ServiceRequest(path: service.path, method: .patch, params: params)
        let harmless = service.app.harmlessHeaders
        request.params.headers = params.headers.filter { !harmless.contains($0.key.lowercased()) }
        return request.uncarriedField
    }

    /// Returns why a write in the outbox failed; nil if it waits, or is not there.
    func failure(of id: OutboxWrite.ID) -> OutboxFailure? {
        service.app.outbox?.withState { $0.queue.items[id]?.failure }
    }

    /// Whether a write is in the outbox.
    func isQueued(_ id: OutboxWrite.ID) -> Bool {
        service.app.outbox?.withState { $0.queue.items[id] != nil } ?? false
    }
}

// MARK: - Coding

extension DraftSource {
    /// - Throws: ``FeathersError/Code/badRequest`` if JSON cannot express the model, or if it isn't an object.
    func encode(_ model: Model) throws -> JSONObject {
        guard let object = try service.encoded(model, params).object else {
            throw error(.badRequest, "needs a model with properties")
        }
        return object
    }

    func decode(_ object: JSONObject) throws -> Model {
        do {
            return try service.codec(for: params).decode(Model.self, from: .object(object))
        } catch {
            throw FeathersError.undecodable(
                "The draft of record '\(id)' of service '\(service.path)', merged with the server's record,",
                as: Model.self, error)
        }
    }
}
