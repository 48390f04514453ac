import Feathers
import Foundation

/// Notes that can be read and taken offline. They are sent to the server once there is a connection.
///
/// A local store keeps the notes that were shown last, and those that have not been sent yet.
///
/// Calls use the connection while it is open. Without one, reads use REST. At most four calls are in flight, and
/// identical reads are coalesced.
struct Notebook: Sendable {
    let app: FeathersApp
    private let notes: Service<Note>
    private let book: String

    /// - Parameters:
    ///   - transport: The transport to the server; see ``transport(to:)``.
    ///   - service: The path of the service that stores the notes.
    ///   - folder: The folder for the notes on this device.
    ///   - book: The name that distinguishes these notes from others in the service.
    init(_ transport: any Transport, service: String = "messages", folder: URL, book: String) async throws {
        app = FeathersApp(transport: transport)
        app.use(hooks: .limiting(to: 4))
        app.use(hooks: .coalescingReads())
        try await app.use(localStore: .directory(folder))
        notes = app.service(service, of: Note.self)
        self.book = book
    }

    /// Returns a transport with a connection, and REST while there is none.
    static func transport(to url: URL) -> MixedTransport {
        .mixed(realTime: .socketIO(url), rest: .rest(url))
    }

    /// Takes a note, with or without a connection.
    /// - Returns: The queued note. Its `result()` is the note on the server.
    func add(_ text: String) async throws -> QueuedWrite<Note> {
        try await notes.outbox.create(Note(text: text, book: book))
    }

    /// Shows the notes on this device at once, then those on the server, and then every change, until the task is
    /// cancelled.
    /// - Parameter show: Called with the notes, their states, and where they come from.
    func watch(_ show: (LiveSnapshot<Note>) -> Void) async throws {
        for try await snapshot in notes.live(Query<Note>.where(.book, book).sorted(by: .id)).snapshots {
            show(snapshot)
        }
    }

    /// Sends the notes that have not been sent yet, for at most some time, or until the server cannot be reached.
    /// - Returns: How many are left.
    func send(within limit: Duration) async throws -> Int {
        let left = try await first(within: limit) { [app] in try await app.outbox?.flush(within: limit).count ?? 0 }
        if let left { return left }
        for await state in app.outbox?.stateUpdates() ?? AsyncStream(unfolding: { nil }) { return state.entries.count }
        return 0
    }

    /// Returns the notes of the server, or those on this device if the server cannot be reached.
    ///
    /// The server's notes are kept for the next time that the server cannot be reached. At most 50 notes are kept; a
    /// server seldom returns more at once. ``list(_:)`` has no limit.
    /// - Parameter limit: How long to wait for the server.
    func latest(within limit: Duration) async throws -> LiveSnapshot<Note>? {
        let live = notes.live(Query<Note>.where(.book, book).sorted(by: .id).limit(50)).snapshots
        let latest = try await first(within: limit) {
            for try await snapshot in live where snapshot.source == .server { return snapshot }
            throw CancellationError()
        }
        if let latest { return latest }
        for try await snapshot in live { return snapshot }
        return nil
    }

    /// Returns the result of a body; nil if the server cannot be reached, or is silent for some time.
    private func first<Result: Sendable>(
        within limit: Duration, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result? {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask { [app] in
                for await status in app.connectionStatusUpdates() {
                    switch status {
                    case .waiting, .closed: return nil
                    case .offline, .connecting, .connected: continue
                    }
                }
                try await Task.sleep(for: limit)
                return nil
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Lists all notes on the server, page by page.
    /// - Parameter show: Called with each note, and with the fraction of the pages that have been fetched.
    func list(_ show: (Note, Double?) -> Void) async throws {
        let query = Query<Note>.where(.book, book).sorted(by: .id)
        // Not `keyedBy: "id"`: in a query string, the id after which a page continues is text. A server that does not
        // convert it to a number finds no notes after it.
        for try await page in notes.pages(query, of: 10) {
            for note in page { show(note, page.fraction) }
        }
    }
}
