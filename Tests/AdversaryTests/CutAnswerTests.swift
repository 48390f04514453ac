import Feathers
import TestBackend
import Testing

/// How an answer ends before it is complete.
struct Cut: Sendable, CustomTestStringConvertible {
    /// The name of the special behavior.
    let behavior: String
    let padding: Int

    var testDescription: String { padding > 0 ? "\(behavior), \(padding) bytes longer" : behavior }

    private static let ended = "an answer cut off"
    private static let reset = "an answer cut by a reset"

    static let all =
        Environment.isLong
        ? [0, 400].flatMap { padding in [ended, reset].map { Cut(behavior: $0, padding: padding) } }
        : [Cut(behavior: ended, padding: 0)]

    /// Whether all bytes of an answer that was sent as a whole arrive. A reset may overtake the last of them.
    var deliversWhole: Bool { behavior == Self.ended }
}

/// A subject and a call of it that is cut.
struct CutCall: Sendable, CustomTestStringConvertible {
    let subject: Subject
    let method: ServiceMethod

    var testDescription: String { "\(subject.testDescription): \(method.rawValue)" }

    static let all = Subject.ways.flatMap { subject in
        [ServiceMethod.get, .create].map { CutCall(subject: subject, method: $0) }
    }

    /// Calls so that the server sends this many bytes of its answer.
    func call(_ app: FeathersApp, sends count: Int) async throws -> JSONValue {
        if subject.connects { try await app.connect() }
        let messages = app.service("messages")
        return method == .get ? try await messages.get(count) : try await messages.create(["n": .integer(Int64(count))])
    }
}

@Suite("Cut answers", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(60)))
struct CutAnswerTests {
    @Test("are errors at every offset, never an answer", arguments: CutCall.all, Cut.all)
    func everyOffset(_ cutCall: CutCall, _ cut: Cut) async throws {
        let server = try await HostileServer(cut.behavior, padding: cut.padding, on: Adversary.backend)
        let app = try await cutCall.subject.app(server, Adversary.longDeadline)
        var offset = 0
        var isWhole = false
        while !isWhole {
            let end = try await CallEnd { try await cutCall.call(app, sends: offset) }
            await app.disconnect()
            // The number of the record is in the answer, so the length depends on the offset.
            let length = try await server.counters().length
            isWhole = offset >= length
            switch end {
            case .failed(let error):
                #expect(!isWhole || !cut.deliversWhole, "\(error)")
                #expect(error.execution == .mayHaveExecuted, "after \(offset) of \(length) bytes: \(error)")
            case .answered(let answer):
                #expect(isWhole, "answered after \(offset) of \(length) bytes")
                #expect(answer == Adversary.record(offset, padding: cut.padding))
            }
            offset += 1
        }
        #expect(offset > 1)
    }
}
