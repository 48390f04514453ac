import FeathersCore
import Testing

@Suite("Sentences for people")
struct UserMessageTests {
    static let errors: [(any Error, UserMessage)] = [
        (FeathersError(.unavailable, "", execution: .neverSent), .offline),
        (FeathersError(.timeout, "", execution: .mayHaveExecuted), .uncertain),
        (FeathersError(.unavailable, ""), .unavailable),
        (FeathersError(.tooManyRequests, ""), .unavailable),
        (FeathersError(.notAuthenticated, ""), .signedOut),
        (FeathersError(.forbidden, ""), .refused),
        (FeathersError(.gone, ""), .missing),
        (FeathersError(412, ""), .conflict),
        (FeathersError(.conflict, ""), .conflict),
        (FeathersError(.unprocessable, ""), .invalid),
        (FeathersError(.generalError, ""), .failed),
        (CancellationError(), .cancelled),
    ]

    @Test("say what people can do about an error", arguments: errors.indices)
    func kinds(_ index: Int) {
        let (error, message) = Self.errors[index]
        #expect(UserMessage(error) == message)
        #expect(error.userMessage == message.text)
    }

    @Test("call a read that may have been executed offline")
    func read() {
        var error = FeathersError(.unavailable, "", execution: .mayHaveExecuted)
        error.method = .find
        #expect(UserMessage(error) == .offline)
    }

    @Test("are different sentences without anything from the server")
    func sentences() {
        #expect(Set(UserMessage.allCases.map(\.text)).count == UserMessage.allCases.count)
        #expect(!FeathersError(.badRequest, "secret").userMessage.contains("secret"))
    }
}
