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

    /// Sends the notes that have not been sent yet, for at most some time.
    /// - Returns: How many are left.
    func send(within limit: Duration) async throws -> Int { try await app.outbox?.flush(within: limit).count ?? 0 }

    /// Lists all notes on the server, page by page.
    /// - Parameter show: Called with each note, and with the fraction of the pages that have been fetched.
    func list(_ show: (Note, Double?) -> Void) async throws {
        let query = Query<Note>.where(.book, book).sorted(by: .id)
        for try await page in notes.pages(query, of: 10, keyedBy: "id") {
            for note in page { show(note, page.fraction) }
        }
    }
}
