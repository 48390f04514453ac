import FeathersCore
import Foundation

/// A difference from the JavaScript client that we chose, or that lies in how the recording was made.
struct DeliberateDifference: Sendable {
    let reason: String
    let covers: @Sendable (ReplayFinding) -> Bool

    init(_ reason: String, _ covers: @escaping @Sendable (ReplayFinding) -> Bool) {
        self.reason = reason
        self.covers = covers
    }

    /// The table: every finding of the replay is covered by a row or fails the test.
    static let table: [DeliberateDifference] = requests + queries + answers + outcomes + version6

    private static let requests = [
        DeliberateDifference(
            """
            Raw cases send what no Feathers client would (odd verbs, no Accept, bodies that are no JSON): \
            only their answers count
            """
        ) {
            guard $0.recordedCase.isRaw else { return false }
            return switch $0.aspect {
            case .method, .target, .body, .header, .refused, .refusedByDefault: true
            default: false
            }
        },
        DeliberateDifference(
            "An id or path a URL cannot carry ('.', '..', empty) is refused; fetch silently asks for another resource"
        ) {
            $0.aspect == .refused
                && ($0.ours.contains("which a URL cannot contain") || $0.ours.contains("path is empty"))
        },
        DeliberateDifference(
            """
            A placeholder without a value is refused by name; \
            JavaScript replaces only the first one and sends the rest as they stand
            """
        ) {
            $0.aspect == .refused && $0.ours.contains("requires a value for")
        },
        DeliberateDifference(
            "Route values are percent-encoded, so that they stay in their segment; JavaScript inserts them as they are"
        ) {
            $0.aspect == .target && $0.recordedCase.call.contains("route")
                && $0.recorded.removingPercentEncoding == $0.ours.removingPercentEncoding
        },
        DeliberateDifference(
            """
            params.connection.headers replaces all of fetch's headers, even Content-Type; \
            our call's headers only win over the others
            """
        ) {
            guard case .header = $0.aspect else { return false }
            return $0.recorded == "(none)" && $0.recordedCase.call.contains("connection")
        },
        DeliberateDifference("A Swift string cannot hold the lone surrogates a JavaScript string can") {
            switch $0.aspect {
            case .target: $0.recorded.removingPercentEncoding == nil
            case .body: $0.ours.contains("\u{FFFD}") && $0.recorded.contains("\\ud")
            default: false
            }
        },
    ]

    private static let queries = [
        DeliberateDifference(
            """
            A query beyond qs' limits is refused by default, since servers mangle it; \
            with the limits off it is the same, byte for byte
            """
        ) {
            $0.aspect == .refusedByDefault
        },
        DeliberateDifference(
            "An empty array or object in a query is refused; JavaScript drops it, and with it the condition"
        ) {
            $0.aspect == .droppedFromQuery
        },
    ]

    private static let version6 = [
        DeliberateDifference(
            "A Location that is not ASCII is read as UTF-8 or Latin-1 and encoded; Node's fetch makes U+FFFD of it"
        ) {
            $0.aspect == .target && $0.recorded.contains("%EF%BF%BD")
        },
        DeliberateDifference(
            "A streamed call says that it takes an event stream; the JavaScript client says JSON, which no server reads"
        ) {
            $0.aspect == .header("accept") && $0.ours.hasPrefix("text/event-stream")
        },
        DeliberateDifference(
            """
            A call without data sends {}, as version 5 reads it; \
            the JavaScript client sends nothing, which the server reads as a stream
            """
        ) {
            guard $0.recordedCase.isVersion6, ["null", "archive()"].contains(where: $0.recordedCase.call.contains)
            else { return false }
            return $0.aspect == .body ? $0.ours == "{}" : $0.aspect == .header("content-type")
        },
        DeliberateDifference(
            """
            Version 6 leaves ! * ( ) as they are in queries; we encode them, as version 5's qs does: \
            the server reads the same
            """
        ) {
            $0.recordedCase.isVersion6 && $0.aspect == .target
                && $0.recorded.removingPercentEncoding == $0.ours.removingPercentEncoding
        },
        DeliberateDifference(
            """
            A success that is not JSON is an error with the status and the body; \
            the JavaScript client throws a SyntaxError
            """
        ) {
            guard case .outcomeError = $0.aspect else { return false }
            return $0.recordedCase.outcome["rejected"]?["constructor"] == "SyntaxError"
        },
        DeliberateDifference(
            "Without traffic there is nothing to replay: the call was refused, or only concerned the JavaScript client"
        ) {
            $0.recordedCase.isVersion6 && $0.aspect == .noTraffic
                && ($0.recorded.contains("can not be null") || $0.recorded.contains("Only one"))
        },
    ]

    private static let answers = [
        DeliberateDifference("The recording keeps only the ends of a long body that is not the big service's text") {
            $0.aspect == .clipped && ($0.recordedCase.isRaw || !$0.recorded.contains("aé€😀"))
        },
        DeliberateDifference(
            "An error body that is no JSON is described with its status and kept; JavaScript says 'JSON parsing error'"
        ) {
            $0.aspect == .outcomeError("message") && $0.recorded == "\"JSON parsing error\""
        },
        DeliberateDifference(
            """
            A class FeathersJS finds only by number (Gone) or not at all is a FeathersError for us, a plain Error there
            """
        ) {
            $0.aspect == .outcomeError("class") && $0.recorded == "Error"
        },
        DeliberateDifference(
            """
            No answer in time is a FeathersError named Timeout that says the call may have been executed; \
            JavaScript passes on fetch's AbortError
            """
        ) {
            guard case .outcomeError = $0.aspect else { return false }
            return $0.recordedCase.exchanges.last?.response == nil
        },
    ]

    private static let outcomes = [
        DeliberateDifference(
            """
            Without traffic there is nothing to replay: JavaScript's undefined id has no counterpart, \
            nil is the null id
            """
        ) {
            $0.aspect == .noTraffic && $0.recorded.contains("can not be undefined")
        },
        DeliberateDifference("Without traffic there is nothing to replay: the authentication client answered by itself")
        {
            $0.aspect == .noTraffic && $0.recordedCase.group.hasPrefix("auth")
        },
        DeliberateDifference("Without traffic there is nothing to replay: JavaScript could not express the call") {
            $0.aspect == .noTraffic && $0.recorded.contains("\"constructor\":\"TypeError\"")
        },
        DeliberateDifference(
            "get(null) is a find on the wire, and the recording picked what a list lacks; we refuse get without an id"
        ) {
            $0.aspect == .outcome && $0.recordedCase.outcome["undefined"] == true
        },
        DeliberateDifference("The authentication client swallows what the server said to a log-out") {
            $0.aspect == .outcome && $0.recordedCase.call.contains("logout") && $0.ours.contains("failure")
        },
        DeliberateDifference(
            "The case's own JavaScript computed its outcome from the result, which was compared before"
        ) { finding in
            finding.aspect == .outcome
                && ["=>", "return ", "(await"].contains { finding.recordedCase.call.contains($0) }
        },
    ]
}
