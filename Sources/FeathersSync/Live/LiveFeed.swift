import FeathersCore
import FeathersSupport
import Foundation

/// The state of a live query, shared by its reader, its fetch and the outbox.
final class LiveFeed: Sendable {
    struct State: Sendable {
        var view: LiveView
        /// Why the query ends.
        var failure: (any Error)?
        /// The user and sign-in for which the base was fetched, or is being fetched.
        var sender: RequestSender?
        /// Identifies the current fetch, so that a replaced one changes nothing.
        var fetch: UUID?
        /// Whether the server has nothing to show to the present user, so that there is nothing to fetch until another
        /// one signs in.
        var isWaitingForUser = false
        /// Whether the server cannot be reached, so that an empty result is shown if there is no other.
        var isUnreachable = false
        /// Whether anything has been shown. Later fetches are then retried.
        var hasShown = false
    }

    let reading: EventReading<ServiceEvent>
    private let state: Locked<State>

    init(_ reading: EventReading<ServiceEvent>, _ view: LiveView) {
        self.reading = reading
        state = Locked(State(view: view))
    }

    /// Changes the state without waking the reader.
    func withState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock(body)
    }

    /// Changes the state, then wakes the reader, outside the lock.
    func change(_ body: (inout State) -> Void) {
        state.withLock(body)
        reading.wake()
    }
}

extension LiveFeed.State {
    /// Sets the user for whom a fetch begins. The gap that reports a change of user may come later, and until then the
    /// previous user's records must not count as the next one's.
    mutating func changeSender(to sender: RequestSender) {
        if let previous = self.sender, previous != sender {
            view.clear()
            isUnreachable = false
        }
        self.sender = sender
    }

    /// Records that the server has nothing to show until another user signs in.
    mutating func hasNothingToShow() {
        view.fetchEnded()
        view.giveUpExecuted()
        (fetch, isWaitingForUser, view.showsWithoutBase) = (nil, true, true)
    }

    /// Applies a change of the outbox.
    mutating func apply(_ change: OutboxChange) {
        // What the server has sent to one user is not shown to another. Until a fetch shows its effect, the write stays
        // as it was queued.
        if case .executed(let id, let result) = change, !result.wasSent(to: sender) {
            view.executedElsewhere(id)
            if isWaitingForUser { view.giveUpExecuted() }
        } else {
            view.apply(change)
        }
    }
}

/// A change of a pending write that live queries show.
enum OutboxChange: Sendable {
    case queued(OutboxWrite, number: Int)
    /// The write has other data, a failure or none.
    case changed(OutboxWrite, OutboxFailure?)
    /// An attempt begins. It is repeated if the server may have executed an earlier one.
    case sending(OutboxWrite.ID, isRepeated: Bool)
    case executed(UUID, ServerResult)
    case discarded(UUID)
}

/// The live queries that show the writes of an outbox, by the path of their service.
struct LiveFeeds: Sendable {
    private struct Place: Sendable {
        weak var feed: LiveFeed?
    }

    private var places: [String: [Place]] = [:]
    /// The queries whose readers must still be woken.
    private var changed: [LiveFeed] = []

    /// The paths with live queries.
    var paths: [String] { Array(places.keys) }

    mutating func add(_ feed: LiveFeed, at path: String) {
        places[path] = (places[path] ?? []).filter { $0.feed != nil } + [Place(feed: feed)]
    }

    /// Applies a change to the live queries of a service.
    mutating func publish(at path: String, _ body: (inout LiveFeed.State) -> Void) {
        for place in places[path] ?? [] {
            guard let feed = place.feed else { continue }
            feed.withState { body(&$0) }
            changed.append(feed)
        }
    }

    /// Returns what the server last reported about a record, as far as a live query knows it.
    func known(_ key: String, at path: String, _ route: [String: String]) -> JSONValue? {
        for place in places[path] ?? [] {
            if let record = place.feed?.withState({ $0.isCurrent && $0.view.route == route ? $0.view.known(key) : nil })
            {
                return record
            }
        }
        return nil
    }

    /// Returns the provisional id of a record that a queued write creates, if only the record's event has arrived yet.
    func provisionalKey(of key: String, at path: String, _ route: [String: String]) -> String? {
        for place in places[path] ?? [] {
            if let first = place.feed?.withState({ $0.view.route == route ? $0.view.aliases[key] : nil }) {
                return first
            }
        }
        return nil
    }

    /// Returns the server's ids of the records that live queries have matched to those that a write creates, by the
    /// provisional ids.
    func adopted(by write: OutboxWrite) -> [String: ServiceID] {
        (places[write.path] ?? []).reduce(into: [:]) { found, place in
            let adopted = place.feed?.withState {
                $0.isCurrent && $0.view.route == write.route ? $0.view.adopted(by: write) : [:]
            }
            found.merge(adopted ?? [:]) { first, _ in first }
        }
    }

    /// Takes the queries whose readers must be woken, outside the lock.
    mutating func takeChanged() -> [LiveFeed] {
        defer { changed = [] }
        return changed
    }
}
