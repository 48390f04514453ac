// Locks: `UserWatches` of the app guards who waits for a change of the user.

public import FeathersCore
import FeathersSupport

extension Service {
    /// Returns the current result of a query for the signed-in user: one query for each user, and nothing while no one
    /// is signed in.
    ///
    /// ```swift
    /// let mine = app.service(.cards).live { (user: User) in .where(.ownerID, user.id) }
    /// ```
    ///
    /// The user is that of ``FeathersApp/user(of:)``, so the list opens without a connection too. When the user changes,
    /// the result is empty until the next user's records are there. When the record of the user changes, for example
    /// because the server sends another one with the next sign-in, the query changes with it.
    ///
    /// Reading the result throws ``FeathersError/Code/generalError`` if the record does not match the model of the user.
    /// - Parameters:
    ///   - params: Sent with every fetch: header fields, a timeout and your own values.
    ///   - id: The name of the records' id property. By default, that of the service's definition, or `id`.
    ///   - stores: Whether the lists are stored in the app's ``LocalStore``, if there is one.
    ///   - operators: Closures for operators in the query that are not Feathers' own.
    ///   - query: Returns the query of a user.
    public func live<User: Decodable & Sendable>(
        params: Params = Params(), id: String? = nil, stores: Bool = true,
        operators: [QueryOperator] = [], _ query: @escaping @Sendable (User) -> Query<Model>
    ) -> LiveQuery<Model> {
        var live = live(Query(), params: params, id: id, stores: stores, operators: operators)
        let service = self
        live.source.conditions.append(
            UserCondition { record in
                let user: User
                do { user = try service.app.decodeUser(record) } catch {
                    throw FeathersError.undecodable("The signed-in user", as: User.self, error)
                }
                return try query(user).written(for: service.codec(for: params))
            })
        return live
    }
}

/// A condition that depends on the signed-in user.
struct UserCondition: LiveCondition {
    /// Returns the query of a user's record.
    let query: @Sendable (JSONValue) throws -> Query<JSONValue>

    func reader(
        of source: LiveSource<some Sendable>, _ wake: AsyncStream<Void>.Continuation
    ) -> any LiveConditionReading {
        UserConditionReader(
            app: source.service.app, query: query, watch: UserWatch(source.service.app.userWatches, wake))
    }
}

private struct UserConditionReader: LiveConditionReading {
    let app: FeathersApp
    let query: @Sendable (JSONValue) throws -> Query<JSONValue>
    var watch: UserWatch?
    /// The query of the last record.
    private var last: (record: JSONValue, query: Query<JSONValue>)?

    init(app: FeathersApp, query: @escaping @Sendable (JSONValue) throws -> Query<JSONValue>, watch: UserWatch) {
        (self.app, self.query, self.watch) = (app, query, watch)
    }

    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveConditionState {
        // The stored token names the user.
        _ = await app.resolvedSender()
        let (sender, user) = app.senderAndUser
        guard let user else { return .nothing(sender) }
        if let last, last.record == user { return .query(last.query, sender) }
        let query = try query(user)
        last = (user, query)
        return .query(query, sender)
    }

    mutating func close() { watch = nil }
}

/// Wakes a reader when the signed-in user changes. Dropping it ends that.
private final class UserWatch: Sendable {
    private let watches: UserWatches
    private let id: Int

    init(_ watches: UserWatches, _ wake: AsyncStream<Void>.Continuation) {
        (self.watches, id) = (watches, watches.add(wake))
    }

    deinit { watches.remove(id) }
}

/// The readers that follow the signed-in user of an app.
private final class UserWatches: Sendable {
    private let wakes = Locked<(last: Int, all: [Int: AsyncStream<Void>.Continuation])>((0, [:]))

    func add(_ wake: AsyncStream<Void>.Continuation) -> Int {
        wakes.withLock { wakes in
            wakes.last += 1
            wakes.all[wakes.last] = wake
            return wakes.last
        }
    }

    func remove(_ id: Int) { wakes.withLock { $0.all[id] = nil } }

    func wakeAll() { for wake in wakes.withLock({ Array($0.all.values) }) { wake.yield() } }

    /// Held while those of an app are made, so that all readers find the same.
    static let making = Locked(LockTurn())
}

extension FeathersApp {
    fileprivate var userWatches: UserWatches {
        UserWatches.making.withLock { _ in
            if let watches = self[InstalledUserWatches.self] { return watches }
            let watches = UserWatches()
            self[InstalledUserWatches.self] = watches
            observeUser { watches.wakeAll() }
            return watches
        }
    }

    private enum InstalledUserWatches: AppSetting { typealias Value = UserWatches }
}
