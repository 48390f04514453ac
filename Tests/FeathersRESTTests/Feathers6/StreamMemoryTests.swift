import FeathersCore
import FeathersNetworking
import Foundation
import TestBackend
import Testing

@testable import FeathersREST

/// A million tokens through a process that must not grow by them.
///
/// Only with `FEATHERS_LARGE_TRANSFERS=1`, and alone: other suites grow the process too.
@Suite(
    "Memory of a streamed result", .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["FEATHERS_LARGE_TRANSFERS"] == "1" && !TestBackend.isSkipped), .timeLimit(.minutes(10))
)
struct StreamMemoryTests {
    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    @Test("A million items take no more than ten thousand", arguments: StreamedResultTests.Client.all)
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
        #expect(peak - start < 8 << 20, "grew by \((peak - start) >> 10) KiB")
        print("A million items over \(client.testDescription): grew by \((peak - start) >> 10) KiB")
    }
}
