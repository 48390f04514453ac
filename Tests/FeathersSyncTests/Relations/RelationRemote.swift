import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation

@testable import FeathersSync

/// A server with messages, authors, teams and reactions, which may be out of reach, and apps on one device that read
/// from it.
struct RelationRemote: Sendable {
    let folder: OutboxFolder
    let services: [String: MemoryService]
    let isOnline = Locked(true)
    /// The services that are out of reach although the others are not.
    let silent = Locked<Set<String>>([])
    /// The user whose records the server shows; nil for all records.
    let user = Locked<String?>(nil)
    let requests = Locked<[ServiceRequest]>([])
    /// The clock of delays between fetches, which a task advances as soon as anything waits.
    let clock = ManualClock()

    /// - Parameter page: The maximum number of records on a page; nil if the server does not paginate.
    init(page: Int? = nil) throws {
        folder = try OutboxFolder()
        let records: [String: [JSONObject]] = [
            "messages": [
                ["id": 1, "text": "a", "authorID": 1, "owner": "ada"],
                ["id": 2, "text": "b", "authorID": 2, "owner": "ada"],
                ["id": 3, "text": "c", "authorID": 1, "owner": "ada"],
                ["id": 4, "text": "d", "authorID": 3, "owner": "bob"],
            ],
            "users": [
                ["id": 1, "name": "Ada", "teamID": 1, "owner": "ada"],
                ["id": 2, "name": "Bob", "teamID": 2, "owner": "ada"], ["id": 3, "name": "Cy", "owner": "bob"],
            ],
            "teams": [["id": 1, "title": "Red", "owner": "ada"], ["id": 2, "title": "Blue", "owner": "ada"]],
            "reactions": [
                ["id": 1, "messageID": 1, "emoji": "+", "userID": 2, "owner": "ada"],
                ["id": 2, "messageID": 1, "emoji": "-", "userID": 3, "owner": "ada"],
                ["id": 3, "messageID": 3, "emoji": "!", "userID": 1, "owner": "ada"],
                ["id": 4, "messageID": 4, "emoji": "~", "userID": 3, "owner": "bob"],
            ],
        ]
        services = records.mapValues { records in
            MemoryService(startID: 10, pagination: page.map { Pagination(default: $0, max: $0) }, records: records)
        }
    }

    var place: URL { folder.url.appending(path: "store", directoryHint: .isDirectory) }

    /// Responds like the server.
    func respond(to request: ServiceRequest) async throws -> JSONValue {
        requests.withLock { $0.append(request) }
        guard isOnline.withLock({ $0 }), !silent.withLock({ $0.contains(request.path) }),
            let service = services[request.path]
        else { throw FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent) }
        var request = request
        if let user = user.withLock({ $0 }), request.method == .find {
            request.params.query.json["owner"] = .string(user)
        }
        return try await service.respond(to: request).result
    }

    /// A process that has not begun to run.
    func app(local: Bool = false, as user: String? = nil, over transport: (any Transport)? = nil) async throws
        -> FeathersApp
    {
        let app = FeathersApp(transport: transport ?? StubTransport { try await respond(to: $0) })
        // A busy machine is no silent server.
        app.relationLimits.responseDelay = .seconds(3600)
        if let user { app.setIdentity(Identity(user)) }
        if local {
            var store = LocalStore.directory(place)
            store.responseDelay = .seconds(3600)
            try await app.use(localStore: store)
        }
        return app
    }

    /// The messages in the order of their ids.
    func messages(_ app: FeathersApp) -> LiveQuery<Message> {
        app.service("messages", of: Message.self).live(.sorted(by: "id")).measured(by: clock)
    }

    /// The messages with everything that is related to them.
    func all(_ app: FeathersApp) -> LiveQuery<Message> {
        messages(app).including(Message.author.including(User.team), Message.reactions.including(Reaction.by))
    }

    /// Advances the clock as soon as anything waits, until the task is cancelled.
    func pump() -> Task<Void, any Error> {
        Task { [clock] in
            while true {
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(60))
            }
        }
    }

    /// Ends an app that a task runs.
    func end(_ app: FeathersApp, _ run: Task<Void, any Error>) async {
        run.cancel()
        _ = await run.result
        await app.outbox?.close()
    }

    /// The paths of the services whose `find` was requested, in order.
    var finds: [String] { requests.withLock { $0.filter { $0.method == .find }.map(\.path) } }

    /// The open windows of the app's stores, by the path of their service.
    func windows(of app: FeathersApp) async -> [String: Int] {
        let sender = await app.resolvedSender()
        return services.keys.reduce(into: [:]) { counts, path in
            let store = app.liveStores.store(of: app.service(path), [:], id: "id", sender)
            counts[path] = store.withState { $0.store.ids.count }
        }
    }
}

extension AsyncIteratorProtocol where Failure == any Error, Element: Sendable {
    /// Returns the next element that meets a condition.
    mutating func next(until condition: (Element) -> Bool) async throws -> Element {
        while let element = try await next(isolation: #isolation) { if condition(element) { return element } }
        throw FeathersError(.generalError, "The sequence has ended")
    }
}

/// What a row shows: text, author, team, and each reaction with its author.
struct ShownMessage: Equatable, CustomStringConvertible {
    let text: String
    let author: String?
    let team: String?
    let reactions: [String]

    init(_ text: String, _ author: String?, _ team: String?, _ reactions: String...) {
        (self.text, self.author, self.team, self.reactions) = (text, author, team, reactions)
    }

    init(_ row: LiveRow<Message>) {
        let author = row[Message.author]
        (text, self.author, team) = (row.text, author?.name, author?[User.team]?.title)
        reactions = row[Message.reactions].map { "\($0.emoji)\($0[Reaction.by]?.name ?? "")" }
    }

    var description: String { "\(text) \(author ?? "nil") \(team ?? "nil") \(reactions)" }

    /// What the user ada sees.
    static let ofAda = [
        ShownMessage("a", "Ada", "Red", "+Bob", "-"), ShownMessage("b", "Bob", "Blue"),
        ShownMessage("c", "Ada", "Red", "!Ada"),
    ]
    /// What is on the server.
    static let all = [
        ShownMessage("a", "Ada", "Red", "+Bob", "-Cy"), ShownMessage("b", "Bob", "Blue"),
        ShownMessage("c", "Ada", "Red", "!Ada"), ShownMessage("d", "Cy", nil, "~Cy"),
    ]
}

extension LiveSnapshot<Message> {
    var shown: [ShownMessage] { map(ShownMessage.init) }
}
