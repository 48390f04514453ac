// Locks: State of one reader, in the task that reads its snapshots.

import FeathersCore

/// Reads the list of a live query, or two lists that begin at a record.
enum LiveListReader<Record: Sendable> {
    case list(LiveReader<Record>)
    case around(LiveAnchorReader<Record>)

    init(_ source: LiveSource<Record>, _ wake: AsyncStream<Void>.Continuation) {
        self = source.anchor.map { .around(LiveAnchorReader(source, $0, wake)) } ?? .list(LiveReader(source, wake))
    }

    /// The window of the list; nil before it is open, and for two lists.
    var window: LiveWindow? {
        switch self {
        case .list(let reader): reader.window
        case .around(let reader): reader.window
        }
    }

    /// The sign-in to which something was shown last; nil before the first snapshot.
    var shownFor: RequestSender? {
        switch self {
        case .list(let reader): reader.shownFor
        case .around(let reader): reader.shownFor
        }
    }

    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        switch self {
        case .list(var reader):
            defer { self = .list(reader) }
            return try await reader.poll(isolation: actor)
        case .around(var reader):
            defer { self = .around(reader) }
            return try await reader.poll(isolation: actor)
        }
    }

    mutating func changeKeys(_ change: RelatedKeys.Change) {
        guard case .list(var reader) = self else { return }
        reader.changeKeys(change)
        self = .list(reader)
    }

    mutating func close() {
        switch self {
        case .list(var reader):
            reader.close()
            self = .list(reader)
        case .around(var reader):
            reader.close()
            self = .around(reader)
        }
    }
}

/// Reads the rows of a live query: of one with fixed conditions, or one whose conditions change.
enum LiveRowsReader<Record: Sendable> {
    case fixed(LiveListReader<Record>)
    case following(LiveFollowingReader<Record>)

    init(_ source: LiveSource<Record>, _ wake: AsyncStream<Void>.Continuation) {
        self =
            source.conditions.isEmpty
            ? .fixed(LiveListReader(source, wake)) : .following(LiveFollowingReader(source, wake))
    }

    /// The window of the list; nil before it is open, and for two lists.
    var window: LiveWindow? {
        switch self {
        case .fixed(let reader): reader.window
        case .following(let reader): reader.window
        }
    }

    /// The sign-in to which something was shown last; nil before the first snapshot.
    var shownFor: RequestSender? {
        switch self {
        case .fixed(let reader): reader.shownFor
        case .following(let reader): reader.shownFor
        }
    }

    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        switch self {
        case .fixed(var reader):
            defer { self = .fixed(reader) }
            return try await reader.poll(isolation: actor)
        case .following(var reader):
            defer { self = .following(reader) }
            return try await reader.poll(isolation: actor)
        }
    }

    mutating func changeKeys(_ change: RelatedKeys.Change) {
        guard case .fixed(var reader) = self else { return }
        reader.changeKeys(change)
        self = .fixed(reader)
    }

    mutating func close() {
        switch self {
        case .fixed(var reader):
            reader.close()
            self = .fixed(reader)
        case .following(var reader):
            reader.close()
            self = .following(reader)
        }
    }
}
