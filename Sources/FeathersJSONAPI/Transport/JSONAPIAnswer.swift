import FeathersCore
import FeathersNetworking
import Foundation

/// Reads an HTTP answer as the result of a service call, or as its error.
struct JSONAPIAnswer {
    let codec: JSONAPICodec
    let pages: PageStrategy

    func result(of response: HTTPResponse, to exchange: JSONAPIExchange) throws(FeathersError) -> JSONValue {
        guard (200..<300).contains(response.status) else { throw FeathersError(jsonAPI: response) }
        guard response.status != 204, !response.body.isEmpty else { return try empty(response, exchange.expectation) }
        let document: JSONAPIDocument
        do throws(JSONAPIError) {
            document = try JSONAPIDocument(parsing: response.body)
        } catch {
            var failure = FeathersError(
                .generalError, "The server answered \(response.status) with no JSON:API document: \(error)", cause: error)
            failure.answer = FeathersError.Answer(status: response.status, body: response.body)
            throw failure
        }
        // Errors make a failure of any status.
        guard document.errors == nil else { throw FeathersError(document, response) }
        return try result(of: document, response, exchange)
    }

    /// The result of a read whose caller may hold it already: that one where the server answers 304 (RFC 9110, section 15.4.5).
    func result(of response: HTTPResponse, to exchange: JSONAPIExchange, _ read: ConditionalRead) throws(FeathersError) -> JSONValue {
        if response.status == 304, let held = read.held {
            read.note(.notModified)
            return held.value
        }
        let value = try result(of: response, to: exchange)
        read.note(.answered(response.headers["ETag"].map { ConditionalRead.Answer(entityTag: $0, value: value) }))
        return value
    }

    private func result(
        of document: JSONAPIDocument, _ response: HTTPResponse, _ exchange: JSONAPIExchange
    ) throws(FeathersError) -> JSONValue {
        switch (exchange.expectation, document.data) {
        case (.document, _): return document.json
        case (.batch(let sent), _): return try results(of: document, sent: sent, response)
        case (.collection(let limit, let skip), .many?):
            var page: JSONObject = [:]
            if let total = document.meta.flatMap(pages.total) { page["total"] = .integer(Int64(total)) }
            if let limit { page["limit"] = .integer(Int64(limit)) }
            if let limit, limit > 0 { page["skip"] = .integer(Int64(skip ?? 0)) }
            page["data"] = codec.records(of: document, including: exchange.include)
            return .object(page).noting(document, response)
        case (.collection, _): throw unexpected("an array of resources", response)
        case (.resource, .one?), (.change, .one?):
            return codec.records(of: document, including: exchange.include).noting(document, response)
        case (.resource, .null?):
            throw FeathersError(.notFound, "The server answered \(response.status) without a resource")
        case (.resource, _): throw unexpected("one resource", response)
        case (.change(let sent), _): return JSONValue.object(sent).noting(document, response, isSent: true)
        case (.related, .null?): return .null
        case (.related, .many?):
            return JSONValue.object(["data": codec.records(of: document, including: exchange.include)]).noting(document, response)
        case (.related, .one?): return codec.records(of: document, including: exchange.include).noting(document, response)
        case (.related, nil): throw unexpected("resources", response)
        }
    }

    private func empty(_ response: HTTPResponse, _ expectation: JSONAPIExchange.Expectation) throws(FeathersError) -> JSONValue {
        switch expectation {
        case .change(let sent): return JSONValue.object(sent).noting(nil, response, isSent: true)
        case .batch(let sent): return .array(sent.map(JSONValue.object))
        case .document: return [:]
        case .collection, .resource, .related: throw unexpected("a document", response)
        }
    }

    func unexpected(_ what: String, _ response: HTTPResponse) -> FeathersError {
        var failure = FeathersError(.generalError, "The server answered \(response.status) without \(what)")
        failure.answer = FeathersError.Answer(status: response.status, body: response.body)
        return failure
    }
}

extension JSONValue {
    /// The result with what else the answer says, in a member no field can be named like: `@document`, with the document's `meta`, `links` and
    /// `jsonapi`, the request's `url`, and where the server gave them the answer's `location`, and for an accepted call
    /// its `status`, `contentLocation` and `retryAfter`. `isSent` is true where the server said nothing of the resource, so that the record is the one
    /// that was sent.
    fileprivate func noting(_ document: JSONAPIDocument?, _ response: HTTPResponse, isSent: Bool = false) -> JSONValue {
        guard var object = self.object else { return self }
        var note: JSONObject = ["url": .string(response.url.absoluteString)]
        if let meta = document?.meta { note["meta"] = .object(meta) }
        if let links = document?.links, !links.isEmpty { note["links"] = .object(links.json) }
        if let jsonapi = document?.jsonapi { note["jsonapi"] = jsonapi.json }
        func address(_ name: String) -> JSONValue? {
            response.headers[name].flatMap { URL(string: $0, relativeTo: response.url)?.absoluteString }.map(JSONValue.string)
        }
        if isSent { note["isSent"] = true }
        note["location"] = address("Location")
        if response.status == 202 {
            note["status"] = 202
            note["contentLocation"] = address("Content-Location")
            note["retryAfter"] = response.headers["Retry-After"].map(JSONValue.string)
        }
        object["@document"] = .object(note)
        return .object(object)
    }
}
