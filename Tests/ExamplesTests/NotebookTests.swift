import Feathers
import FeathersSupport
import Foundation
import TestBackend
import Testing

@testable import Notes

@Suite("The example that keeps notes", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct NotebookTests {
    @Test(
        "Notes taken without a server are there when it is back, once and in pages; what an earlier process took, too")
    func offline() async throws {
        let proxy = try await FaultProxy(to: try await TestBackend.url())
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "feathers-notes-\(UUID())", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = MixedTransport.mixed(
            realTime: .socketIO(proxy.url) {
                $0.reconnection = ReconnectionPolicy(initialDelay: .milliseconds(20), maximumDelay: .milliseconds(100))
            }, rest: .rest(proxy.url))
        let book = UUID().uuidString
        try await proxy.refuse()
        do {
            // Never connected: a process that ends too early.
            let earlier = try await Notebook(transport, folder: folder, book: book)
            for number in 1...12 { _ = try await earlier.add("\(number)") }
            await earlier.app.outbox?.close()
        }

        let notebook = try await Notebook(transport, folder: folder, book: book)
        let outbox = try #require(notebook.app.outbox)
        // What an earlier process took is shown without a server.
        let first = try await firstSnapshot(of: notebook)
        #expect(first.map(\.text).sorted() == (1...12).map(String.init).sorted())
        try await withFeathersApp(notebook.app) { _ in
            let last = try await notebook.add("last")
            try await proxy.accept()
            #expect(try await last.result().text == "last")
            for await state in outbox.stateUpdates() where state.entries.isEmpty { break }
            #expect(try await texts(notebook).sorted() == ((1...12).map(String.init) + ["last"]).sorted())
        }
        try await proxy.close()
    }

    private func firstSnapshot(of notebook: Notebook) async throws -> [Note] {
        let task = Task {
            let records = Locked<[Note]>([])
            try? await notebook.watch { snapshot in
                records.withLock { $0 = Array(snapshot.records) }
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return records.withLock { $0 }
        }
        return await task.value
    }

    private func texts(_ notebook: Notebook) async throws -> [String] {
        var texts: [String] = []
        try await notebook.list { note, _ in texts.append(note.text) }
        return texts
    }
}
