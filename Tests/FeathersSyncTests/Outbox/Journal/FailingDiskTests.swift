import FeathersCore
import FeathersSupport
import Testing

@testable import FeathersSync

@Suite("Journals on disks that fail", .timeLimit(.minutes(10)))
struct FailingDiskTests {
    private static let first = JournalRecord.added(.sample(1))
    private static let second = JournalRecord.added(.sample(2))

    @Test("On a full disk a record is refused and leaves nothing behind, however much of it had room")
    func full() throws {
        let entry = try SampleJournal.entry(Self.second)
        for room in 0..<entry.bytes.count {
            let disk = SimulatedDisk()
            var journal = try SampleJournal.open(disk)
            try journal.append([try SampleJournal.entry(Self.first)])
            let before = disk.bytes(of: "outbox")
            disk.state.withLock { $0.room = room }
            #expect { try journal.append([entry]) } throws: { error in
                "\(error)".contains("'/outbox' cannot be written: No space left")
                    && (error as? FeathersError)?.execution == .neverSent
            }
            #expect(disk.bytes(of: "outbox") == before)
            #expect(journal.contents.text == SampleJournal.contents([Self.first]).text)

            disk.state.withLock { $0.room = 1 << 40 }
            try journal.append([entry])
            #expect(
                try SampleJournal.open(disk.afterPowerFailure(keepsWrites: false)).contents.text
                    == SampleJournal.contents([Self.first, Self.second]).text)
        }
    }

    @Test("What can be neither synchronized nor cut off again ends the journal: nobody knows what is in it")
    func uncertain() throws {
        let disk = SimulatedDisk()
        var journal = try SampleJournal.open(disk)
        disk.state.withLock { ($0.failsSynchronizing, $0.failsTruncating) = (true, true) }
        #expect(throws: FeathersError.self) { try journal.append([try SampleJournal.entry(Self.first)]) }
        disk.state.withLock { ($0.failsSynchronizing, $0.failsTruncating) = (false, false) }
        #expect { try journal.append([try SampleJournal.entry(Self.second)]) } throws: {
            "\($0)".contains("Input/output error")
        }
    }

    /// Many writes of some size, nearly all of them done with: the file is written anew in between.
    private static let longLife: [JournalRecord] = (1...30).flatMap { number -> [JournalRecord] in
        let text = JSONValue.string(String(repeating: "x", count: 200))
        return [.added(.sample(number, data: text)), .begun(.sample(number))]
            + (number % 10 == 0 ? [] : [.ended(.sample(number))])
    }

    @Test("Written anew, a journal is short again and the same", arguments: [longLife])
    func rewritten(_ records: [JournalRecord]) throws {
        let disk = SimulatedDisk()
        var journal = try SampleJournal.open(disk)
        for record in records { try journal.append([try SampleJournal.entry(record)]) }
        #expect(journal.contents.inOrder.count == 3)
        #expect(disk.bytes(of: "outbox").map { $0.count < 8192 } == true)
        #expect(disk.bytes(of: "outbox.new") == nil)
        #expect(
            try SampleJournal.open(disk.afterPowerFailure(keepsWrites: false)).contents.text == journal.contents.text)
    }

    @Test(
        "Whatever call the power fails at, all that was acknowledged is there, and at most the one record under way",
        arguments: [false, true])
    func powerFailure(_ keepsWrites: Bool) throws {
        let whole = SimulatedDisk()
        var journal = try SampleJournal.open(whole)
        for record in Self.longLife { try journal.append([try SampleJournal.entry(record)]) }
        let calls = whole.state.withLock { $0.calls }
        #expect(calls > 2 * Self.longLife.count)

        for lastCall in 0..<calls {
            let disk = SimulatedDisk()
            disk.state.withLock { $0.callsLeft = lastCall }
            var acknowledged = 0
            if var journal = try? SampleJournal.open(disk) {
                for record in Self.longLife {
                    guard (try? journal.append([SampleJournal.entry(record)])) != nil else { break }
                    acknowledged += 1
                }
            }
            let found = try SampleJournal.open(disk.afterPowerFailure(keepsWrites: keepsWrites)).contents.text
            let expected = [acknowledged, acknowledged + 1].map {
                SampleJournal.contents(Self.longLife.prefix($0)).text
            }
            #expect(expected.contains(found), "after \(lastCall) calls")
        }
    }

    @Test("Where a rewrite has no room, the file stays in use, and no half-written one takes the room that is left")
    func fullWhileRewriting() throws {
        let disk = SimulatedDisk()
        var journal = try SampleJournal.open(disk)
        let entry = try SampleJournal.entry(.added(.sample(1, data: .string(String(repeating: "x", count: 5000)))))
        disk.state.withLock { $0.room = entry.bytes.count + 100 }
        try journal.append([entry])
        #expect(disk.bytes(of: "outbox.new") == nil)
        #expect(disk.bytes(of: "outbox") == JournalFormat.header + entry.bytes)

        disk.state.withLock { $0.room = 1 << 40 }
        try journal.append([try SampleJournal.entry(Self.second)])
        #expect(
            try SampleJournal.open(disk.afterPowerFailure(keepsWrites: false)).contents.text
                == SampleJournal.contents([entry.record, Self.second]).text)
    }

    @Test("A disk that is full from the beginning keeps no file", arguments: 0..<JournalFormat.headerLength)
    func fullAtFirst(_ room: Int) {
        let disk = SimulatedDisk()
        disk.state.withLock { $0.room = room }
        #expect(throws: FeathersError.self) { try SampleJournal.open(disk) }
        #expect(disk.state.withLock { $0.names.isEmpty })
    }
}
