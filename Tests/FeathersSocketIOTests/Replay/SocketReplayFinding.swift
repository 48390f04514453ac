/// One way in which our replay of a case differs from the recording, or a part of it that was not replayed.
struct SocketReplayFinding: Sendable, CustomStringConvertible {
    enum Aspect: Sendable, Hashable {
        /// Nobody but a script was at work: the server's packets were read, nothing was compared.
        case scripted
        /// The recording holds no readable text.
        case unreadable
        /// The recorded session moves to another transport, which ours never does.
        case otherTransport
        /// There is no entry at all.
        case noTraffic
        /// Our transport has no call for it; the event was sent below the transport.
        case noCounterpart
        /// Our transport refuses the call before sending it.
        case refused
        /// A client that asks for no answer.
        case noAnswerWanted
        case target
        case header(String)
        case packet
        case result
        case event
        case polling
        /// The replay itself failed.
        case failure
    }

    let recordedCase: RecordedSocketCase
    let aspect: Aspect
    let recorded: String
    let ours: String

    var description: String {
        "\(recordedCase.testDescription): \(aspect)\n  recorded: \(recorded.prefix(400))\n"
            + "  ours:     \(ours.prefix(400))"
    }
}

/// A difference from the JavaScript client that we chose, or that lies in how the recording was made.
struct SocketDeliberateDifference: Sendable {
    let reason: String
    let covers: @Sendable (SocketReplayFinding) -> Bool

    /// The table: every finding is covered by a row or fails the test.
    static let table: [SocketDeliberateDifference] = [
        .init(
            reason:
                """
                Raw cases are scripts that send what no client would: what the server says is read, nothing is compared
                """
        ) {
            $0.aspect == .scripted && $0.recordedCase.isRaw
        },
        .init(
            reason:
                """
                permessage-deflate was negotiated: the recording holds compressed bytes, \
                and we do not offer compression
                """
        ) {
            $0.aspect == .unreadable && $0.recordedCase.name.contains("deflate")
        },
        .init(
            reason: "The recording was clipped, and what is missing cannot be rebuilt: there are no words for this case"
        ) {
            $0.aspect == .unreadable && $0.recordedCase.isClipped
        },
        .init(
            reason:
                """
                A session that moves from polling to a WebSocket is not replayed, \
                because this client stays on the transport it opened
                """
        ) {
            $0.aspect == .otherTransport && $0.recordedCase.group == "upgrade"
        },
        .init(reason: "A call the JavaScript client answered by itself left no traffic to replay") {
            $0.aspect == .noTraffic && $0.recordedCase.wire.isEmpty
        },
        .init(reason: "get without an id is refused, as over REST; JavaScript sends null") {
            $0.aspect == .noCounterpart && $0.recorded.contains(#"["get",""#) && $0.recorded.contains(#"",null,"#)
        },
        .init(reason: "An id is a string or a number; JavaScript sends anything") {
            $0.aspect == .noCounterpart && $0.recordedCase.group == "id"
        },
        .init(
            reason:
                """
                The test emitted an event of its own making, which no service call sends \
                (arguments missing, too many, of other kinds)
                """
        ) {
            $0.aspect == .noCounterpart && $0.recordedCase.group == "raw-socket"
        },
        .init(reason: "An event sent without asking for an answer: a service call always asks") {
            $0.aspect == .noAnswerWanted
        },
        .init(
            reason:
                """
                A message larger than the server accepts is refused before it is sent; \
                JavaScript sends it and loses the connection
                """
        ) {
            $0.aspect == .refused && $0.recorded.utf8.count > 1_000_000
        },
        .init(reason: "The cache-buster t is left out: answers to polls say that they may not be cached") {
            guard $0.aspect == .target else { return false }
            let plain = $0.recorded.replacing(/&t=[^&]*/, with: "").replacing(/&sid=[^&]*/, with: "")
            return $0.recorded.contains("&t=") && plain == $0.ours.replacing(/&sid=[^&]*/, with: "")
        },
    ]
}
