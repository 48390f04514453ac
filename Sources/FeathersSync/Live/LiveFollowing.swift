// Locks: State of one reader, in the task that reads its snapshots.

import FeathersCore
import FeathersSupport

/// A part of a live query's conditions that changes while the query is read.
protocol LiveCondition: Sendable {
    /// Returns what reads the condition of a query.
    /// - Parameter wake: Receives an element for each change.
    func reader(of source: LiveSource<some Sendable>, _ wake: AsyncStream<Void>.Continuation)
        -> any LiveConditionReading
}

protocol LiveConditionReading {
    /// Returns the condition as it is now.
    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveConditionState
    mutating func close()
}

enum LiveConditionState: Sendable {
    /// The condition is not known yet.
    case unknown
    /// No record meets the condition of this user.
    case nothing(RequestSender)
    case query(Query<JSONValue>, RequestSender)
}

/// Reads a live query whose conditions change: another list for each of them, and nothing while there is none.
///
/// The rows of a list stay until the first rows of the next one, unless the user changes.
struct LiveFollowingReader<Record: Sendable>: LiveRowsReading {
    private let source: LiveSource<Record>
    private var conditions: [any LiveConditionReading]
    private let wake: AsyncStream<Void>.Continuation
    private var list: (any LiveRowsReading<Record>)?
    /// The query of the list.
    private var query: Query<JSONValue>?
    private var shown: (rows: ResultRows, identity: Identity?)?
    /// The sign-in to which something was shown last; nil before the first snapshot.
    private(set) var shownFor: RequestSender?

    init(_ source: LiveSource<Record>, _ wake: AsyncStream<Void>.Continuation) {
        (self.source, self.wake) = (source, wake)
        conditions = source.conditions.map { $0.reader(of: source, wake) }
    }

    var window: LiveWindow? { list?.window }

    mutating func close() {
        for index in conditions.indices { conditions[index].close() }
        closeList()
    }

    private mutating func closeList() {
        list?.close()
        (list, query) = (nil, nil)
    }

    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        if let refusal = source.refusal { throw refusal }
        var joined = source.query
        var isNothing = false
        var readFor: RequestSender?
        for index in conditions.indices {
            switch try await conditions[index].poll(isolation: actor) {
            case .unknown: return emptied(unlessOf: await source.service.app.resolvedSender())
            case .nothing(let sender): (isNothing, readFor) = (true, sender)
            case .query(let condition, let sender): (joined, readFor) = (joined.joined(with: condition), sender)
            }
            // Another condition is of the next user.
            guard readFor?.isCurrent == true else { return emptied(unlessOf: source.service.app.currentSender) }
        }
        guard let readFor else { return nil }
        if let emptied = emptied(unlessOf: readFor) {
            wake.yield()
            return emptied
        }
        if isNothing {
            closeList()
            shownFor = readFor
            return shown.map { $0.rows.isEmpty } ?? false ? nil : show(ResultRows(), LiveContent(), readFor.identity)
        }
        if query != joined {
            list?.close()
            query = joined
            list = source.with(joined).rowsReader(wake)
        }
        guard let next = try await list?.poll(isolation: actor) else { return nil }
        // The list may hear of the next sign-in before its conditions.
        guard readFor.isCurrent, next.shownIdentity == readFor.identity else { return nil }
        shownFor = readFor
        return show(next.rows.resultRows, next.liveContent, next.shownIdentity)
    }

    /// Takes away what was shown to another user.
    private mutating func emptied(unlessOf sender: RequestSender) -> LiveSnapshot<Record>? {
        guard let shown, shown.identity != sender.identity else { return nil }
        closeList()
        if shown.rows.isEmpty {
            self.shown?.identity = sender.identity
            return nil
        }
        return show(ResultRows(), LiveContent(), sender.identity)
    }

    private mutating func show(_ rows: ResultRows, _ content: LiveContent, _ identity: Identity?)
        -> LiveSnapshot<Record>
    {
        let old = shown?.rows ?? ResultRows()
        shown = (rows, identity)
        let difference = LiveDifference(rows.changes(since: old), of: rows, since: old, firstKeys: content.firstKeys)
        return LiveSnapshot(rows, content, difference, identity: identity)
    }
}

extension LiveSource {
    /// Returns the query with other conditions, which do not change.
    fileprivate func with(_ query: Query<JSONValue>) -> LiveSource {
        var source = self
        (source.query, source.conditions) = (query, [])
        let selected = relations.compactMap { $0.selected(by: source) }
        if query.json["$select"] != nil, !selected.isEmpty { source.query = query.selecting(selected) }
        return source
    }
}
