public import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation

struct JSONAPIResponseReader {
    let codec: JSONAPICodec
    let pages: PageStrategy
    let exchange: JSONAPIExchange
    let response: HTTPResponse

    /// Returns the result with its entity tag. A 304 means that the caller's stored response is still valid (RFC 9110,
    /// section 15.4.5).
    func serviceResponse(to request: ServiceRequest) throws(FeathersError) -> ServiceResponse {
        var answer: ServiceResponse
        if response.status == 304, let held = request.params.heldResponse {
            answer = ServiceResponse(held.value)
            answer[NotModified.self] = true
        } else if let json = try readJSON() {
            if request.params[DecodesModels.self] == true,
                let received = try readingDocument({ () throws(JSONAPIError) in
                    try ReceivedDocument(json, reader: self)
                })
            {
                answer = ServiceResponse(received)
                answer.set(JSONAPIDocument.self) { received.document }
            } else {
                let document = try readingDocument { () throws(JSONAPIError) in try JSONAPIDocument(json) }
                // A document with errors is a failure, regardless of its status.
                guard document.errors == nil else { throw FeathersError(document, response) }
                answer = ServiceResponse(try result(of: document))
                answer[JSONAPIDocument.self] = document
            }
        } else {
            answer = ServiceResponse(try emptyResult())
        }
        answer[HTTPHead.self] = HTTPHead(response)
        answer[EntityTag.self] = EntityTag.checked(response.headers["ETag"])
        return answer
    }

    /// Parses the response's body; nil for a response without a body.
    private func readJSON() throws(FeathersError) -> JSONValue? {
        guard (200..<300).contains(response.status) else { throw FeathersError(jsonAPI: response) }
        guard response.status != 204, !response.body.isEmpty else { return nil }
        do {
            return try readingDocument { () throws(JSONAPIError) in try JSONValue(document: response.jsonText) }
        } catch {
            guard (try? JSONValue(parsing: response.jsonText)) == nil else { throw error }
            throw response.foreignError(error.message, cause: error.cause)
        }
    }

    private func readingDocument<Document>(_ read: () throws(JSONAPIError) -> Document) throws(FeathersError)
        -> Document
    {
        do {
            return try read()
        } catch {
            throw failure("with a body that is not a JSON:API document: \(error)", cause: error)
        }
    }

    func result(of document: JSONAPIDocument) throws(FeathersError) -> JSONValue {
        func records() -> JSONValue { codec.records(of: document, including: exchange.include) }
        switch (exchange.expectation, document.data) {
        case (.document, _): return document.json
        case (.batch(let sent), _): return try results(of: document, sent: sent)
        case (.collection(let limit, let skip), .many?):
            var page: JSONObject = [:]
            page["total"] = document.meta.flatMap(pages.total).map { .integer(Int64($0)) }
            if let limit {
                page["limit"] = .integer(Int64(limit))
                if limit > 0 { page["skip"] = .integer(Int64(skip ?? 0)) }
            }
            page["data"] = records()
            return noting(.object(page), document)
        case (.resource, .one?), (.change, .one?), (.related, .one?): return noting(records(), document)
        case (.related, .many?): return noting(["data": records()], document)
        case (.related, .null?): return .null
        case (.change(let sent), _): return noting(.object(sent), document, isSent: true)
        case (.resource, .null?):
            throw FeathersError(.notFound, "The server returned status \(response.status) without a resource")
        case (.collection, _): throw failure("without an array of resources")
        case (.resource, _): throw failure("without one resource")
        case (.related, nil): throw failure("without resources")
        }
    }

    private func emptyResult() throws(FeathersError) -> JSONValue {
        switch exchange.expectation {
        case .change(let sent): return noting(.object(sent), nil, isSent: true)
        case .batch(let sent): return .array(sent.map(JSONValue.object))
        case .document: return [:]
        case .collection, .resource, .related: throw failure("without a document")
        }
    }

    private func results(of document: JSONAPIDocument, sent: [JSONObject]) throws(FeathersError) -> JSONValue {
        guard let results = document.extensionMembers["atomic:results"]?.array, results.count == sent.count else {
            throw failure("without a result for each of \(sent.count) operations")
        }
        var records: [JSONValue] = []
        for (index, result) in results.enumerated() {
            var member: JSONObject = [:]
            for name in ["data", "meta", "links"] { member[name] = result[name] }
            guard let data = member["data"], !data.isNull else {
                records.append(.object(sent[index]))
                continue
            }
            do throws(JSONAPIError) {
                records.append(codec.records(of: try JSONAPIDocument(.object(member))))
            } catch {
                throw FeathersError(
                    .generalError, "The result of operation \(index) is not a resource: \(error)", cause: error)
            }
        }
        return .array(records)
    }

    private func failure(_ what: String, cause: (any Error)? = nil) -> FeathersError {
        var failure = FeathersError(
            .generalError, "The server returned status \(response.status) \(what)", cause: cause)
        failure.response = FeathersError.Response(status: response.status, body: response.body)
        return failure
    }

    /// Adds the rest of the response to a result, as the member `@document`.
    ///
    /// It contains the document's `meta`, `links`, and `jsonapi`; the request's `url`; the response's `location`; and
    /// for an accepted call its `status`, `contentLocation`, and `retryAfter`. `isSent` is true if the server sent no
    /// resource, so the record is the one that was sent.
    private func noting(_ result: JSONValue, _ document: JSONAPIDocument?, isSent: Bool = false) -> JSONValue {
        guard var object = result.object else { return result }
        var note: JSONObject = ["url": .string(response.url.absoluteString)]
        if let meta = document?.meta { note["meta"] = .object(meta) }
        if let links = document?.links, !links.isEmpty { note["links"] = .object(links.json) }
        if let jsonapi = document?.jsonapi { note["jsonapi"] = .object(jsonapi) }
        func address(_ name: String) -> JSONValue? {
            response.headers[name].flatMap { URL(string: $0, relativeTo: response.url)?.absoluteString }.map(
                JSONValue.string)
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

extension JSONAPIDocument: ResponseKey {
    /// The document in a call's response, with its `meta`, `links`, and `jsonapi`:
    /// `response[JSONAPIDocument.self]?.meta`.
    public typealias Value = JSONAPIDocument
}

extension FeathersError {
    /// The error objects from a JSON:API server, in document order; empty if the failure has none.
    public var jsonAPIErrors: [JSONAPIErrorObject] {
        errors?.array?.compactMap { $0.object.map(JSONAPIErrorObject.init(reading:)) } ?? []
    }

    /// Creates the error for a response. It stores the error objects, or the status and body if the response isn't
    /// JSON:API.
    fileprivate init(jsonAPI response: HTTPResponse) {
        if !response.redirects, let document = try? JSONAPIDocument(parsing: response.jsonText),
            document.errors != nil
        {
            self.init(document, response)
            return
        }
        let what = response.body.isEmpty ? "without a body" : "with a body that is not a JSON:API document"
        self.init(Code(rawValue: response.status), "The server returned status \(response.status) \(what)")
        if response.isNetworksOwn { self = response.foreignError(message) }
        self.response = Response(status: response.status, body: response.body)
        retryAfter = response.requestedDelay()
    }

    /// Creates the error for a document with errors. Its code is the HTTP status; if that is a success, the status of
    /// the first error.
    fileprivate init(_ document: JSONAPIDocument, _ response: HTTPResponse) {
        let errors = document.errors ?? []
        let isFailure = response.status >= 400
        let status = isFailure ? response.status : errors.lazy.compactMap { $0.status.flatMap { Int($0) } }.first ?? 500
        let first = errors.first
        let message = first?.detail ?? first?.title ?? "The server returned status \(response.status) with errors"
        var data: JSONObject = [:]
        if let meta = document.meta { data["meta"] = .object(meta) }
        if !document.links.isEmpty { data["links"] = .object(document.links.json) }
        self.init(
            Code(rawValue: status), errors.count > 1 ? "\(message) (and \(errors.count - 1) more)" : message,
            data: data.isEmpty ? nil : .object(data), errors: .array(errors.map(\.json)))
        retryAfter = response.requestedDelay()
    }
}
