import FeathersCore

/// One case of `rest.json`: what the JavaScript client was told to do, what went over the wire, what came of it.
struct RecordedCase: Sendable {
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

    init(_ json: JSONValue) throws(ReplayFailure) {
        guard let group = json["group"]?.string, let name = json["name"]?.string else {
            throw ReplayFailure("A case without group or name: \(json.description.prefix(200))")
        }
        self.group = group
        self.name = name
        call = json["call"]?.string ?? ""
        query = json["query"]?.string ?? ""
        isRaw = json["client"]?.string == "raw"
        outcome = json["outcome"]?.object ?? [:]
        var exchanges: [RecordedExchange] = []
        for exchange in json["exchanges"]?.array ?? [] { exchanges.append(try RecordedExchange(exchange)) }
        self.exchanges = exchanges
    }

    var id: String { "\(group)/\(name)" }

    /// The exchanges call by call: a redirect and what it leads to are one call.
    var calls: [[RecordedExchange]] {
        var calls: [[RecordedExchange]] = []
        for exchange in exchanges {
            if let previous = calls.last?.last, let location = previous.redirectTarget, location == exchange.request.target {
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
