import FeathersCore
import Foundation
import Testing

@testable import FeathersSync

@Suite("How much a journal may hold", .timeLimit(.minutes(10)))
struct JournalLimitTests {
    private let folder: OutboxFolder

    init() throws { folder = try OutboxFolder() }

    private func writer(_ limits: Journal.Limits) async throws -> JournalWriter {
        let writer = JournalWriter(folder.file, limits: limits)
        _ = try await writer.open()
        return writer
    }

    @Test("Unless said otherwise: 100,000 writes, 256 MiB of data, 16 MiB of errors")
    func defaults() {
        let limits = Journal.Limits()
        #expect(limits.writes == 100_000 && limits.dataBytes == 256 << 20 && limits.failureBytes == 16 << 20)
    }

    @Test("One write too many is refused by the file's name and the limit; one that ends makes room")
    func writes() async throws {
        let writer = try await writer(Journal.Limits(writes: 2))
        try await writer.append(.added(.sample(1)))
        try await writer.append(.added(.sample(2)))
        await #expect {
            try await writer.append(.added(.sample(3)))
        } throws: {
            "\($0)".contains("'\(folder.file.path)' is full: it can hold at most 2 writes")
                && ($0 as? FeathersError)?.execution == .neverSent
        }
        // What it holds goes on.
        try await writer.append(.begun(.sample(1)))
        try await writer.append(.ended(.sample(1)))
        try await writer.append(.added(.sample(4)))
        await writer.close()
        #expect(try folder.found().map(\.write) == [.sample(2), .sample(4)])
    }

    @Test("Of many at once, no more are accepted than have room")
    func together() async throws {
        let writer = try await writer(Journal.Limits(writes: 3))
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for number in 1...20 { group.addTask { (try? await writer.append(.added(.sample(number)))) != nil } }
            return await group.reduce(0) { count, isAccepted in count + (isAccepted ? 1 : 0) }
        }
        #expect(accepted == 3)
        await writer.close()
        #expect(try folder.found().count == 3)
    }

    @Test("A file with more writes is refused by its name and the limit, and stays as it is")
    func file() throws {
        let journal = try Journal(folder.file)
        for number in 1...3 { try journal.append(.added(.sample(number))) }
        journal.close()
        let bytes = try folder.bytes(of: "writes.outbox")
        for limits in [Journal.Limits(writes: 2), Journal.Limits(dataBytes: 100)] {
            #expect {
                try Journal(folder.file, limits: limits)
            } throws: {
                "\($0)".contains("'\(folder.file.path)' cannot be used: it holds more than \(limits.writes) writes or")
            }
        }
        #expect(try folder.bytes(of: "writes.outbox") == bytes)
        #expect(try Journal(folder.file, limits: Journal.Limits(writes: 3)).takeOpened().count == 3)
    }

    @Test("Data and errors have limits of their own, and the progress of writes has none")
    func bytes() async throws {
        let text = JSONValue.string(String(repeating: "x", count: 1000))
        let refusal = FeathersError(.forbidden, "No", data: text)
        func failed(_ number: Int, _ error: FeathersError) -> WriteEvent {
            .failed(.sample(number), .rejected, error, mayHaveExecuted: false)
        }
        // Two of each kind take more than 2,000 bytes and less than 3,000, three more than 3,000.
        let writer = try await writer(Journal.Limits(dataBytes: 3000, failureBytes: 2000))
        try await writer.append(.added(.sample(1, data: text)))
        try await writer.append(.added(.sample(2, data: text)))
        let long = JSONValue.string(String(repeating: "x", count: 2000))
        for record in [.added(.sample(3, data: text)), .replaced(.sample(1), key: .sample(9), data: long)]
            as [WriteEvent]
        {
            await #expect { try await writer.append(record) } throws: {
                "\($0)".contains("'\(folder.file.path)' is full: it can hold at most 3000 bytes of data")
            }
        }
        try await writer.append(failed(1, refusal))
        // There is no room for the details.
        try await writer.append(failed(2, refusal))
        #expect(try folder.found().map { $0.failure?.error.data } == [text, nil])
        // An attempt that begins ends what was known of the last one.
        try await writer.append(.begun(.sample(1)))
        try await writer.append(failed(2, refusal))
        try await writer.append(.ended(.sample(1)))
        try await writer.append(.added(.sample(3, data: text)))
        await writer.close()

        let found = try folder.found()
        #expect(found.map(\.write.id) == [.sample(2), .sample(3)])
        #expect(found.first?.failure?.error.data == text)
    }
}
