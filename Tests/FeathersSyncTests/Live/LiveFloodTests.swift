import FeathersCore
import FeathersSupport
import FeathersSync
import FeathersTesting
import Testing

@Suite("A live query in a flood of events", .timeLimit(.minutes(2)))
struct LiveFloodTests {
    @Test("shows what has arrived, although another event arrives whenever one is applied")
    func endless() async throws {
        let transport = StubTransport { _ in [["id": 1, "text": "first"]] }
        let messages = FeathersApp(transport: transport).service("messages")
        // What the query calls for each event makes the next one arrive.
        let (applied, flood) = (Locked(0), Locked(false))
        let any = QueryOperator("$any") { _, _ in
            let number = applied.withLock { count in
                count += 1
                return count
            }
            // Ends at some time, so that the test fails rather than never ends.
            if flood.withLock({ $0 }), number < 100_000 {
                messages.emit(.patched, ["id": 1, "text": .string("\(number)")])
            }
            return true
        }
        var live = messages.live(["text": ["$any": 1]], operators: [any]).makeAsyncIterator()
        #expect(try await live.next()?.count == 1)
        flood.withLock { $0 = true }
        messages.emit(.patched, ["id": 1, "text": "flood"])
        for _ in 0..<10 { #expect(try await live.next()?.count == 1) }
        #expect(applied.withLock { $0 } < 50_000)
        flood.withLock { $0 = false }
    }

    @Test("shows its fetches, although events are lost during each of them")
    func gaps() async throws {
        let app = Locked<FeathersApp?>(nil)
        let fetches = Locked(0)
        let transport = StubTransport { _ in
            let number = fetches.withLock { count in
                count += 1
                return count
            }
            // More events than fit into the buffer.
            if let messages = app.withLock(\.self)?.service("messages") {
                for index in 0..<5000 where number < 100 {
                    messages.emit(.patched, ["id": 1, "text": .string("\(number) \(index)")])
                }
            }
            return [["id": 1, "text": .string("fetched \(number)")]]
        }
        let opened = FeathersApp(transport: transport)
        app.withLock { $0 = opened }
        var live = opened.service("messages").live().makeAsyncIterator()
        for _ in 0..<5 { #expect(try await live.next()?.count == 1) }
        #expect(fetches.withLock { $0 } < 50)
        app.withLock { $0 = nil }
    }
}
