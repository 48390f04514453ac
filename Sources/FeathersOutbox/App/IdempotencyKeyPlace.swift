import FeathersCore

/// Where a server finds the key by which it knows a repeated write.
public enum IdempotencyKeyPlace: Sendable, Hashable {
    /// In a header field, as a string in quotation marks (draft-ietf-httpapi-idempotency-key-header). Only over REST.
    case header(_ name: String = "Idempotency-Key")
    /// In the query, over any transport. The service must take it out: in `update`, `patch` and `remove` it would be a condition.
    case query(_ name: String)
    /// As the id of the record that `create` makes, unless the data has one; of no use for other methods.
    ///
    /// Later writes to that record can be handed in before it is created: they stand behind it. A repetition is refused by the server, since the id is
    /// taken; the record is then read in place of the answer.
    case recordID(_ property: String = "id")
}

extension OutboxServiceOptions {
    /// Whether the server knows a repetition of this write.
    func knowsRepetition(of write: OutboxWrite) -> Bool {
        guard isKeyed else { return false }
        return keyPlaces.contains { place in
            if case .recordID = place { write.method == .create } else { true }
        }
    }

    /// The call that a write is.
    func request(for write: OutboxWrite, timeout: Duration?) -> ServiceRequest {
        var params = Params(query: write.query, route: write.route, timeout: timeout)
        for place in keyPlaces {
            switch place {
            case .header(let name): params.headers[name] = "\"\(write.key.text)\""
            case .query(let name): params.query.json[name] = .string(write.key.text)
            case .recordID: break
            }
        }
        return ServiceRequest(path: write.path, method: write.method, id: write.recordID, data: write.data, params: params)
    }

    /// The property that the records' ids are made for; nil where the server makes them.
    var recordIDProperty: String? {
        for case .recordID(let property) in keyPlaces { return property }
        return nil
    }
}
