import FeathersCore
import FeathersSupport
import Testing

@testable import FeathersSync

@Suite("Journals that were cut off or damaged", .timeLimit(.minutes(10)))
struct DamagedJournalTests {
    @Test("Cut off at any byte, a journal has its whole records, and takes others behind them")
    func truncated() throws {
        let (bytes, ends) = try SampleJournal.file()
        for length in 0...bytes.count {
            let disk = SimulatedDisk("outbox", Array(bytes[..<length]))
            var journal = try SampleJournal.open(disk)
            let whole = max(ends.filter { $0 <= length }.count - 1, 0)
            let kept = Array(SampleJournal.records[..<whole])
            #expect(journal.contents.text == SampleJournal.contents(kept).text, "at byte \(length)")

            try journal.append([try SampleJournal.entry(.added(.sample(7)))])
            let again = try SampleJournal.open(disk.afterPowerFailure(keepsWrites: false))
            #expect(
                again.contents.text == SampleJournal.contents(kept + [.added(.sample(7))]).text, "at byte \(length)")
        }
    }

    @Test(
        "With any byte changed it is not opened, names the file and the byte, and is left as it is",
        arguments: [0xFF, 0x01, 0x80] as [UInt8])
    func flipped(_ mask: UInt8) throws {
        let (bytes, ends) = try SampleJournal.file()
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= mask
            let disk = SimulatedDisk("outbox", damaged)
            let start = ends.last { $0 <= index } ?? 0
            #expect("byte \(index)") {
                try SampleJournal.open(disk)
            } throws: { error in
                let text = "\(error)"
                // The name of the format is the one thing that makes it a journal at all.
                let reason = index < 7 ? "it is not an outbox file" : "damaged at byte \(start)"
                return text.contains("'/outbox'") && text.contains(reason)
            }
            #expect(disk.bytes(of: "outbox") == damaged)
            #expect(disk.state.withLock { !$0.isLocked })
        }
    }

    @Test(
        "Zeros, which a file system leaves where it had no time to write, are cut off",
        arguments: [1, 11, 12, 13, 4096])
    func zeros(_ count: Int) throws {
        let (bytes, _) = try SampleJournal.file()
        let disk = SimulatedDisk("outbox", bytes + [UInt8](repeating: 0, count: count))
        #expect(try SampleJournal.open(disk).contents.text == SampleJournal.contents(SampleJournal.records).text)
        #expect(disk.bytes(of: "outbox") == bytes)
    }

    @Test("A record that is none of this version's is damage, too")
    func unknownRecord() throws {
        let (bytes, _) = try SampleJournal.file()
        let foreign = JournalFormat.record(Array(#"{"step":"dreamt","id":"\#(UUIDText.any)"}"#.utf8)) ?? []
        #expect { try SampleJournal.open(SimulatedDisk("outbox", bytes + foreign)) } throws: {
            "\($0)".contains("damaged at byte \(bytes.count)")
        }
    }

    @Test("A later version is told by its number")
    func laterVersion() {
        let start = Array("FOUTBOX".utf8) + [2]
        let checksum = XXH64.checksum(of: start)
        let bytes = start + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: checksum >> $0) }
        #expect { try SampleJournal.open(SimulatedDisk("outbox", bytes)) } throws: {
            "\($0)".contains("version 2; only 1 is supported")
        }
    }

    private enum UUIDText {
        static let any = "00000000-0000-4000-8000-000000000001"
    }
}
