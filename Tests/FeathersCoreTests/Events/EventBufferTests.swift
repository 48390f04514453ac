import FeathersTesting
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

    @Test("gives up the oldest where events have more than 16 MiB together, counts them, and keeps the newest however large it is")
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

    @Test("holds events that arrive together as it would hold them one by one", arguments: 1...40)
    func batches(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...40, using: &generator)
        var (buffer, reference) = (Buffer(limit: limit), Buffer(limit: limit))
        var last: Int64 = 0
        for step in 0..<400 {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...2:
                let events = (0..<Int.random(in: 0...(limit + 5), using: &generator)).map { _ in
                    last += 1
                    let weight = Int.random(in: 0..<10, using: &generator) == 0 ? 9 << 20 : Int.random(in: 0...2, using: &generator) << 10
                    return Self.event(last, weight: weight)
                }
                let batch = events.compactMap { if case .event(let event) = $0 { event } else { nil } }
                buffer.append(batch[...], weight: batch.reduce(0) { $0 + $1.weight })
                for event in events { reference.append(event) }
            case 3:
                last += 1
                buffer.append(Self.event(last))
                reference.append(Self.event(last))
            case 4:
                let gap =
                    Int.random(in: 0..<6, using: &generator) == 0 ? Buffer.Item.gap(EventGap(reason: .identityChanged)) : Self.reconnected
                buffer.append(gap)
                reference.append(gap)
            default:
                for _ in 0..<Int.random(in: 0...10, using: &generator) {
                    let (next, expected) = (Self.word(buffer.next()), Self.word(reference.next()))
                    #expect(next == expected, "seed \(seed), step \(step)")
                }
            }
            #expect(buffer.count == reference.count)
            #expect(buffer.droppedCount == reference.droppedCount)
        }
        #expect(Self.rest(of: &buffer) == Self.rest(of: &reference))
    }

    @Test("releases events that arrived together when the last one has been read")
    func released() throws {
        var buffer = Buffer(limit: 10)
        weak var tape: JSONTape?
        do {
            let text = try #require(try JSONTape.marking(Array("[1,2]".utf8)))
            tape = text
            let events = try #require(JSONElement.elements(of: text)).map { ServiceEvent(path: "", name: "n", data: $0, weight: 1) }
            buffer.append(events[...], weight: 2)
        }
        #expect(tape != nil)
        #expect(Self.rest(of: &buffer) == ["1", "2"])
        #expect(tape == nil)
    }
}
