import Feathers
import Foundation

/// Notes that are taken wherever one is, and are on the server once there is a connection.
///
/// Calls go over the connection while it stands and reads over REST while it does not; at most four are made at a time, identical ones once.
struct Notebook: Sendable {
    let app: FeathersApp
    let outbox: Outbox
    private let notes: TypedService<Note>
    private let book: String

    /// - Parameters:
    ///   - transport: the way to the server; see ``transport(to:)``.
    ///   - file: the file that keeps what the server does not have yet.
    ///   - book: tells these notes from others of the service.
    init(_ transport: any Transport, service: String = "messages", outbox file: URL, book: String) async throws {
        app = FeathersApp(transport: transport)
        app.use(hooks: .limiting(to: 4))
        app.use(hooks: .coalescingReads())
        outbox = try await Outbox(file: file)
        try app.use(outbox: outbox)
        notes = app.service(service, of: Note.self)
        self.book = book
    }

    /// The connection, and REST where there is none.
    static func transport(to url: URL) -> MixedTransport {
        .mixed(realTime: .socketIO(url), rest: .rest(url))
    }

    /// Writes a note down, with or without a connection.
    /// - Returns: the note, whose `result()` is the one the server has.
    func add(_ text: String) async throws -> QueuedWrite<Note> { try await notes.outbox.create(Note(text: text, book: book)) }

    /// All notes that the server has, page by page.
    /// - Parameter show: called with each note, and with the share of all pages that are there.
    func list(_ show: (Note, Double?) -> Void) async throws {
        let query = TypedQuery<Note>.where(.book, book).sorted(by: .id)
        for try await page in try notes.pages(query, of: 10, keyedBy: "id") {
            for note in page.records { show(note, page.fraction) }
        }
    }
}
