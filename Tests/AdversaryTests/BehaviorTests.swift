import Feathers
import Foundation
import TestBackend
import Testing

/// A transport and what is done to it.
struct Encounter: Sendable, CustomTestStringConvertible {
    let subject: Subject
    let behavior: HostileServer.Behavior

    var testDescription: String { "\(subject.testDescription): \(behavior.name)" }

    /// What a call may come to.
    var outcome: HostileServer.Outcome {
        // No answer to a plain request opens a connection.
        behavior.protocol == "http" && subject.connects ? .fails : behavior.outcome
    }

    /// Every row of the table with every transport it concerns.
    static func all() async throws -> [Encounter] {
        let behaviors = try await HostileServer.behaviors(on: Adversary.backend)
        return Subject.all.flatMap { subject in
            behaviors.filter { subject.protocols.contains($0.protocol) }.map {
                Encounter(subject: subject, behavior: $0)
            }
        }
    }
}

@Suite("Hostile servers", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct BehaviorTests {
    @Test("get no wrong answer believed, end no call late, and harm no later one", arguments: try await Encounter.all())
    func encounter(_ encounter: Encounter) async throws {
        let (subject, behavior) = (encounter.subject, encounter.behavior)
        let server = try await HostileServer(behavior.name, on: Adversary.backend)
        let deadline = behavior.stalls ? Adversary.shortDeadline : Adversary.longDeadline
        let app = try await subject.app(server, deadline)

        let start = ContinuousClock.now
        let end = try await CallEnd { try await subject.read(7, from: app, within: deadline) }
        let duration = ContinuousClock.now - start
        switch (encounter.outcome, end) {
        case (.fails, .failed), (.either, .failed): break
        case (.answers, .answered(let answer)), (.either, .answered(let answer)): #expect(answer == Adversary.record(7))
        case (.null, .answered(let answer)): #expect(answer == .null)
        case (let expected, let end): Issue.record("It \(expected) by the table, and came to \(end)")
        }
        // Connecting and the call have a deadline each; what needs neither must not wait for one.
        #expect(duration < (behavior.stalls ? deadline * 2 + Adversary.allowance : deadline))

        await app.disconnect()
        try await server.relent()
        #expect(try await readAfterwards(encounter, from: app) == Adversary.record(8))
        await app.disconnect()
    }

    @Test("are listed in SECURITY.md, each with what a call comes to")
    func listed() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: ".github/SECURITY.md"), encoding: .utf8)
        let lines = Set(text.split(separator: "\n").map(String.init))
        let missing = try await HostileServer.behaviors(on: Adversary.backend).map { behavior in
            let outcome =
                switch behavior.outcome {
                case .fails: "fails"
                case .answers: "succeeds"
                case .null: "returns null"
                case .either: "fails or succeeds"
                }
            return "| \(behavior.protocol) | \(behavior.name) | \(outcome) |"
        }.filter { !lines.contains($0) }
        #expect(missing == [])
    }

    /// Reads from the server that behaves now, with the same app.
    private func readAfterwards(_ encounter: Encounter, from app: FeathersApp) async throws -> JSONValue {
        // On a busy machine, one short deadline may not do to connect.
        for _ in 0..<20 where encounter.behavior.stalls {
            do {
                return try await encounter.subject.read(8, from: app, within: Adversary.longDeadline)
            } catch FeathersError.Code.timeout {
                await app.disconnect()
            }
        }
        return try await encounter.subject.read(8, from: app, within: Adversary.longDeadline)
    }

    @Test("that end event streams at once are asked at a measured pace", arguments: [Subject.eventSource, .feathers6])
    func streamPace(_ subject: Subject) async throws {
        let server = try await HostileServer("events, retry: 0 and an end", on: Adversary.backend)
        let app = try await subject.app(server, .seconds(2))
        let end = try await CallEnd { try await subject.read(7, from: app, within: .seconds(2)) }
        await app.disconnect()
        if case .failed(let error) = end { #expect(error.code == .timeout) } else { Issue.record("It came to \(end)") }
        // Without a pace there are some hundred requests in that time.
        #expect(try await server.counters().requests <= 4)
    }

    @Test("that answer every poll at once with nothing are asked at a measured pace")
    func pace() async throws {
        let server = try await HostileServer("noops without end", on: Adversary.backend)
        let app = try await Subject.polling.app(server, .seconds(1))
        let end = try await CallEnd { try await Subject.polling.read(7, from: app, within: .seconds(1)) }
        await app.disconnect()
        if case .failed(let error) = end { #expect(error.code == .timeout) } else { Issue.record("It came to \(end)") }
        // Without a pace there are some thousand requests in that second.
        #expect(try await server.counters().requests < 50)
    }
}
