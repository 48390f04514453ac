import Feathers
import Foundation

/// Notes that can be taken offline. They are sent to the server once there is a connection.
///
/// Calls use the connection while it is open. Without one, reads use REST. At most four calls are in flight, and identical reads are coalesced.
struct Notebook: Sendable {
    let app: FeathersApp
    let outbox: Outbox
    private let notes: TypedService<Note>
    private let book: String

    /// - Parameters:
    ///   - transport: The transport to the server; see ``transport(to:)``.
    ///   - service: The path of the service that stores the notes.
    ///   - file: The file for the notes that have not been sent yet.
    ///   - book: The name that distinguishes these notes from others in the service.
    init(_ transport: any Transport, service: String = "messages", outbox file: URL, book: String) async throws {
        app = FeathersApp(transport: transport)
        app.use(hooks: .limiting(to: 4))
        app.use(hooks: .coalescingReads())
        outbox = try await Outbox(file: file)
        try app.use(outbox: outbox)
        notes = app.service(service, of: Note.self)
        self.book = book
    }

    /// Returns a transport with a connection, and REST while there is none.
    static func transport(to url: URL) -> MixedTransport {
        .mixed(realTime: .socketIO(url), rest: .rest(url))
    }

    /// Takes a note, with or without a connection.
    /// - Returns: The queued note. Its `result()` is the note on the server.
    func add(_ text: String) async throws -> QueuedWrite<Note> { try await notes.outbox.create(Note(text: text, book: book)) }

    /// Lists all notes on the server, page by page.
    /// - Parameter show: Called with each note, and with the fraction of the pages that have been fetched.
    func list(_ show: (Note, Double?) -> Void) async throws {
        let query = TypedQuery<Note>.where(.book, book).sorted(by: .id)
        for try await page in try notes.pages(query, of: 10, keyedBy: "id") {
            for note in page.records { show(note, page.fraction) }
        }
    }
}
