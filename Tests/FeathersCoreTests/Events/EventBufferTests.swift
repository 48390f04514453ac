import Testing

@testable import FeathersCore

@Suite("The buffer of a reader of events")
struct EventBufferTests {
    private typealias Buffer = EventBuffer<ServiceEvent>

    private static func event(_ number: Int64, weight: Int = 0) -> Buffer.Item {
        var event = ServiceEvent(path: "", name: "n", data: .integer(number))
        event.weight = weight
        return .event(event)
    }

    private static let reconnected = Buffer.Item.gap(EventGap(reason: .reconnected))

    /// What comes next, as a word.
    private static func word(_ item: Buffer.Item?) -> String? {
        switch item {
        case .event(let event): "\(event.data)"
        case .gap(let gap): if case .overflow(let dropped) = gap.reason { "-\(dropped)" } else { "gap" }
        case nil: nil
        }
    }

    private static func rest(of buffer: inout Buffer) -> [String] {
        var words: [String] = []
        while let word = word(buffer.next()) { words.append(word) }
        return words
    }

    @Test("keeps the newest, and says before them how many are missing")
    func overflow() {
        var buffer = Buffer(limit: 2)
        for number in 1...5 { buffer.append(Self.event(Int64(number))) }
        #expect(Self.rest(of: &buffer) == ["-3", "4", "5"])
        #expect(buffer.droppedCount == 3)
    }

    @Test("counts anew what goes missing after a marker was read")
    func again() {
        var buffer = Buffer(limit: 2)
        for number in 1...3 { buffer.append(Self.event(Int64(number))) }
        #expect(Self.word(buffer.next()) == "-1")
        for number in 4...5 { buffer.append(Self.event(Int64(number))) }
        #expect(Self.rest(of: &buffer) == ["-2", "4", "5"])
    }

    @Test("moves a marker it has no room for to where it stood; missing events say as much")
    func markers() {
        var buffer = Buffer(limit: 2)
        for item in [Self.reconnected, Self.event(1), Self.event(2)] { buffer.append(item) }
        #expect(Self.rest(of: &buffer) == ["gap", "1", "2"])
        #expect(buffer.droppedCount == 0)
        for item in [Self.event(3), Self.reconnected, Self.event(4), Self.event(5)] { buffer.append(item) }
        #expect(Self.rest(of: &buffer) == ["-1", "4", "5"])
        #expect(buffer.droppedCount == 1)
    }

    @Test("drops and counts the oldest events beyond 16 MiB in total, and keeps the newest one however large it is")
    func bytes() {
        let mebibyte = 1 << 20
        var buffer = Buffer(limit: 1024)
        for number in 1...4 { buffer.append(Self.event(Int64(number), weight: 4 * mebibyte)) }
        #expect(buffer.count == 4)
        buffer.append(Self.event(5, weight: 1))
        #expect(Self.rest(of: &buffer) == ["-1", "2", "3", "4", "5"])
        // What was read takes no room any more.
        for number in 6...9 { buffer.append(Self.event(Int64(number), weight: 4 * mebibyte)) }
        buffer.append(Self.event(10, weight: 100 * mebibyte))
        buffer.append(Self.reconnected)
        #expect(Self.rest(of: &buffer) == ["-4", "10", "gap"])
        #expect(buffer.droppedCount == 5)
    }

    @Test("gives a reader that waits for more events room for 16 KiB each")
    func wide() {
        var buffer = Buffer(limit: 4096)
        for number in 1...16 { buffer.append(Self.event(Int64(number), weight: 4 << 20)) }
        #expect(buffer.count == 16)
        buffer.append(Self.event(17, weight: 1))
        #expect(Self.word(buffer.next()) == "-1")
    }

    @Test("holds one item at least", arguments: [-1, 0, 1])
    func smallest(limit: Int) {
        var buffer = Buffer(limit: limit)
        for number in 1...2 { buffer.append(Self.event(Int64(number))) }
        #expect(Self.rest(of: &buffer) == ["-1", "2"])
    }

    @Test("is drained in order and in parts, with the markers where they belong", arguments: [1, 2, 3, 64])
    func drained(limit: Int) {
        var buffer = Buffer(limit: 4)
        var words: [String] = []
        func drain() {
            var items: [Buffer.Item?] = []
            repeat {
                items.removeAll()
                buffer.drain(into: &items, atMost: limit)
                #expect(items.count <= limit)
                words += items.compactMap { Self.word($0) }
            } while !items.isEmpty
        }
        for number in 1...2 { buffer.append(Self.event(Int64(number))) }
        drain()
        for number in 3...8 { buffer.append(Self.event(Int64(number))) }
        buffer.append(Self.reconnected)
        drain()
        #expect(words == ["1", "2", "-3", "6", "7", "8", "gap"])
        #expect((buffer.count, buffer.droppedCount) == (0, 3))
    }

    @Test("gives everything in order, however reading and writing take turns", arguments: [1, 7, 33, 100, 1000])
    func turns(burst: Int) {
        var buffer = Buffer(limit: 2 * burst)
        var (written, read) = (0, 0)
        for turn in 0..<50 {
            for _ in 0..<burst {
                buffer.append(Self.event(Int64(written)))
                written += 1
            }
            // Every other turn leaves half of a burst for the next one.
            for _ in 0..<(turn.isMultiple(of: 2) ? burst / 2 : written - read) {
                #expect(Self.word(buffer.next()) == "\(read)")
                read += 1
            }
        }
        #expect(Self.rest(of: &buffer).isEmpty)
        #expect(buffer.droppedCount == 0)
    }
}
