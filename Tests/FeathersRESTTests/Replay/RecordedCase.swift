import FeathersCore
import Testing

/// One case of `rest.json` or `http-sse.json`: what the JavaScript client was told to do, what went over the wire, what
/// came of it.
struct RecordedCase: Sendable, CustomTestStringConvertible {
    let group: String
    let name: String
    /// The JavaScript source of the call; empty for raw HTTP.
    let call: String
    /// The query object as JavaScript prints it, in group `query`.
    let query: String
    /// Whether no Feathers client made the request.
    let isRaw: Bool
    let outcome: JSONObject
    let exchanges: [RecordedExchange]
    let isVersion6: Bool
    /// Whether a scripted server wrote the responses, which the exchanges then lack.
    let isScripted: Bool
    /// Whether the client opened an event stream, so that the case cannot be replayed call by call.
    let hasEventStream: Bool

    init(_ json: JSONValue, isVersion6: Bool = false) throws(ReplayFailure) {
        guard let group = json["group"]?.string, let name = json["name"]?.string else {
            throw ReplayFailure("A case without group or name: \(json.description.prefix(200))")
        }
        self.group = group
        self.name = name
        call = json["call"]?.string ?? ""
        query = json["query"]?.string ?? ""
        isRaw = json["client"]?.string == "raw"
        self.isVersion6 = isVersion6
        isScripted = json["server"]?.string == "raw"
        hasEventStream = isVersion6 && call.contains("sse:")
        outcome = json["outcome"]?.object ?? [:]
        var exchanges: [RecordedExchange] = []
        for exchange in json["exchanges"]?.array ?? [] { exchanges.append(try RecordedExchange(exchange)) }
        self.exchanges = exchanges
    }

    var id: String { "\(group)/\(name)" }
    var testDescription: String { id }

    /// The exchanges call by call: a redirect and what it leads to are one call.
    var calls: [[RecordedExchange]] {
        var calls: [[RecordedExchange]] = []
        for exchange in exchanges {
            // Clients encode a location that is not a URL in different ways.
            if let location = calls.last?.last?.redirectTarget,
                location == exchange.request.target || !location.utf8.allSatisfy({ $0 < 0x80 })
            {
                calls[calls.count - 1].append(exchange)
            } else {
                calls.append([exchange])
            }
        }
        return calls
    }
}

/// A recording that cannot be read or replayed, in one sentence.
struct ReplayFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
