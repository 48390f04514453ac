import FeathersSupport
import Synchronization
import Testing

@testable import FeathersCore

@Suite("Typed events")
struct SharedDecodingsTests {
    /// Counts how often it was decoded.
    private struct Note: Codable, Sendable, Equatable {
        static let count = Locked<[String: Int]>([:])

        var text: String

        init(from decoder: any Decoder) throws {
            text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
            Self.count.withLock { [text] in $0[text, default: 0] += 1 }
        }
    }

    private struct Other: Codable, Sendable, Equatable { var text: String }

    /// Emits one event to the readers, and returns how often each note was decoded.
    private func decodings(
        of text: String, by readers: [AsyncStream<Note>], from service: Service<JSONValue>
    ) async -> Int? {
        service.emit(.created, ["text": .string(text)])
        for reader in readers { #expect(await reader.taking(1).map(\.text) == [text]) }
        return Note.count.withLock { $0[text] }
    }

    @Test("are decoded once for all readers of a model", arguments: [1, 2, 20])
    func once(readers: Int) async {
        let app = FeathersApp()
        let streams = (0..<readers).map { _ in app.service("notes", of: Note.self).events(.created) }
        #expect(await decodings(of: "once \(readers)", by: streams, from: app.service("notes")) == 1)
    }

    @Test("are decoded once for readers that come from one value with a codec of its own, and once for the app's")
    func codecs() async {
        let app = FeathersApp()
        let own = app.service("notes", of: Note.self, coding: CodingOptions(keys: .snakeCase))
        let streams = [
            own.events(.created), own.events(.created), app.service("notes", of: Note.self).events(.created),
        ]
        #expect(await decodings(of: "codecs", by: streams, from: app.service("notes")) == 2)
    }

    @Test("come to readers of several models, and what one cannot decode, the others can")
    func models() async throws {
        let app = FeathersApp()
        let notes = app.service("notes", of: Note.self).events(.created)
        let (others, numbers) = (
            app.service("notes", of: Other.self).changes(), app.service("notes", of: Int.self).deliveries()
        )
        app.service("notes").emit(.created, ["text": "models"])
        #expect(await notes.taking(1).map(\.text) == ["models"])
        #expect(await others.taking(1) == [.created(Other(text: "models"))])
        guard case .gap(let gap)? = await numbers.taking(1).first, case .undecodable = gap.reason else {
            Issue.record("an object is no number")
            return
        }
    }

    @Test("are decoded from what they carry now, also after a copy has changed")
    func changed() async throws {
        let event = ServiceEvent(path: "notes", name: .created, data: ["text": "a"]).shared
        var copy = event
        copy.data = ["text": "b"]
        #expect(event.decodings != nil)
        #expect(copy.decodings == nil)
    }

    @Test("keep nothing for a single reader")
    func single() async {
        let service = FeathersApp().service("notes")
        let first = service.events()
        service.emit(.created, 1)
        let second = service.events()
        service.emit(.created, 2)
        #expect(await first.taking(2).map { $0.decodings != nil } == [false, true])
        #expect(await second.taking(1).map { $0.decodings != nil } == [true])
    }
}
