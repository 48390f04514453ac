import FeathersCore
import FeathersNetworking
import Foundation
import TestBackend
import Testing

@testable import FeathersREST

/// A million tokens through a process that must not grow by them.
///
/// Only with `FEATHERS_LONG=1`, and alone: other suites grow the process too.
@Suite(
    "Memory of a streamed result", .serialized,
    .enabled(if: Environment.isLong && !TestBackend.isSkipped), .timeLimit(.minutes(10))
)
struct StreamMemoryTests {
    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    @Test(
        "A million items take no more than ten thousand, save what Foundation on Linux keeps itself",
        arguments: StreamedResultTests.Client.all)
    func million(_ client: StreamedResultTests.Client) async throws {
        let url = try await TestBackend.url().appending(path: "v6")
        let streams = FeathersApp(transport: .feathers6(url) { $0.httpClient = client.make() }).service("streams")
        var start = 0
        var (count, peak) = (0, 0)
        for try await _ in streams.stream(.find, query: ["count": 1_000_000]) {
            count += 1
            if count == 10_000 { start = Self.residentBytes() }
            if count > 10_000, count.isMultiple(of: 10_000) { peak = max(peak, Self.residentBytes()) }
        }
        #expect(count == 1_000_000)
        #expect(peak - start < client.growth, "grew by \((peak - start) >> 10) KiB")
        print(
            "A million items over \(client.testDescription): grew by \((peak - start) >> 10) KiB to \(peak >> 10) KiB")
    }
}

extension StreamedResultTests.Client {
    /// How many bytes the process may grow by while it reads a million items.
    fileprivate var growth: Int {
        #if canImport(FoundationNetworking)
            // Foundation keeps 330 bytes for each piece that arrives while it is busy; a program of twenty lines
            // without this package shows the same.
            if make() is URLSessionHTTPClient { return 400 << 20 }
        #endif
        return 8 << 20
    }
}
