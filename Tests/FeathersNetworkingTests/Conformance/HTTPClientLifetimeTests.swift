import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("An HTTP client's lifetime", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HTTPClientLifetimeTests {
    @Test("cancelling a caller ends its exchange at once and leaves the others alone", arguments: TestedClient.all)
    func cancellation(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(.never)
        let cancelled = Task { try await client.execute(HTTPRequest(url: script.url.appending(path: "cancelled"))) }
        let other = Task { try await client.execute(HTTPRequest(url: script.url.appending(path: "other"))) }
        _ = try await script.requests(count: 2)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let requests = try await script.requests(count: 2, aborted: 1)
        #expect(requests.filter(\.aborted).map { $0.line.contains("cancelled") } == [true])
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
    }

    @Test("a cancelled caller sends nothing", arguments: TestedClient.all)
    func cancelledBefore(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.execute(HTTPRequest(url: script.url))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await script.requests().isEmpty)
    }

    @Test("cancellation at any moment resumes the caller exactly once", arguments: TestedClient.all)
    func races(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        await withTaskGroup(of: Void.self) { group in
            for round in 0..<300 {
                group.addTask {
                    let call = Task {
                        try await client.execute(HTTPRequest(url: script.url, timeout: .milliseconds(round % 7)))
                    }
                    for _ in 0..<(round % 50) { await Task.yield() }
                    call.cancel()
                    do { _ = try await call.value } catch is CancellationError {} catch let error as HTTPClientError {
                        #expect(error.kind == .timeout)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
    }

    @Test("ending all requests fails those in flight, and a later one succeeds", arguments: TestedClient.all)
    func cancellingAll(tested: TestedClient) async throws {
        let client = try tested.make()
        let silent = try await ServerScript(.never)
        let calls = (0..<3).map { _ in Task { try await client.execute(HTTPRequest(url: silent.url)) } }
        _ = try await silent.requests(count: 3)
        client.cancelAll()
        for call in calls {
            let error = try await #require(throws: HTTPClientError.self) { try await call.value }
            #expect(error.kind == .closed)
            #expect(error.delivery == .mayHaveExecuted)
        }
        #expect(try await silent.requests(count: 3, aborted: 3).count { $0.aborted } == 3)
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        #expect(try await client.execute(HTTPRequest(url: script.url)).body == Array("ok".utf8))
        client.cancelAll()
        #expect(try await client.execute(HTTPRequest(url: script.url)).body == Array("ok".utf8))
    }

    @Test(
        "ending all requests at any moment lets every caller go, and keeps the client usable",
        arguments: TestedClient.cancellableAnywhere)
    func cancellingAllRaces(tested: TestedClient) async throws {
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        let client = try tested.make()
        for round in 0..<40 {
            let calls = (0..<4).map { _ in
                Task { try await client.execute(HTTPRequest(url: script.url, timeout: .seconds(20))) }
            }
            for _ in 0..<(round * 5) { await Task.yield() }
            client.cancelAll()
            for call in calls {
                do { _ = try await call.value } catch let error as HTTPClientError { #expect(error.kind == .closed) }
            }
            #expect(try await client.execute(HTTPRequest(url: script.url, timeout: .seconds(20))).status == 200)
        }
    }

    @Test("closing fails what is under way and everything after", arguments: TestedClient.all)
    func closing(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(.never)
        let call = Task { try await client.execute(HTTPRequest(url: script.url)) }
        _ = try await script.requests(count: 1)
        client.close()
        let error = try await #require(throws: HTTPClientError.self) { try await call.value }
        #expect(error.kind == .closed)
        #expect(error.delivery == .mayHaveExecuted)
        #expect(try await script.requests(count: 1, aborted: 1).first?.aborted == true)
        let later = try await #require(throws: HTTPClientError.self) {
            try await client.execute(HTTPRequest(url: script.url))
        }
        #expect(later.kind == .closed)
        #expect(later.delivery == .neverSent)
        client.close()
    }

    @Test("closing at any moment lets every caller go", arguments: TestedClient.all)
    func closingRaces(tested: TestedClient) async throws {
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<40 {
                group.addTask {
                    let client = try tested.make()
                    let calls = (0..<4).map { _ in
                        Task { try await client.execute(HTTPRequest(url: script.url, timeout: .seconds(20))) }
                    }
                    for _ in 0..<(round * 5) { await Task.yield() }
                    client.close()
                    for call in calls {
                        do { _ = try await call.value } catch let error as HTTPClientError {
                            #expect(error.kind == .closed)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
