public import FeathersCore
import FeathersNetworking

extension FeathersError {
    /// The error objects of a JSON:API server, in its order; empty where the failure brought none.
    public var jsonAPIErrors: [JSONAPIErrorObject] {
        errors?.array?.compactMap { $0.object.map(JSONAPIErrorObject.init(reading:)) } ?? []
    }

    /// The failure an answer is: its error objects are kept, and status and body where it is no JSON:API.
    init(jsonAPI response: HTTPResponse) {
        if let document = try? JSONAPIDocument(parsing: response.body), document.errors != nil {
            self.init(document, response)
            return
        }
        let what = response.body.isEmpty ? "without a body" : "with a body that is no JSON:API document"
        self.init(Code(rawValue: response.status), "The server answered \(response.status) \(what)")
        answer = Answer(status: response.status, body: response.body)
        retryAfter = response.retryAfter()
    }

    /// The failure a document with errors is. The HTTP status is the general one; where that is a success, the first error's counts.
    init(_ document: JSONAPIDocument, _ response: HTTPResponse) {
        let errors = document.errors ?? []
        let isFailure = response.status >= 400
        let status = isFailure ? response.status : errors.lazy.compactMap { $0.status.flatMap { Int($0) } }.first ?? 500
        let first = errors.first
        let message = first?.detail ?? first?.title ?? "The server answered \(response.status) with errors"
        var data: JSONObject = [:]
        if let meta = document.meta { data["meta"] = .object(meta) }
        if !document.links.isEmpty { data["links"] = .object(document.links.json) }
        self.init(
            Code(rawValue: status), errors.count > 1 ? "\(message) (and \(errors.count - 1) more)" : message,
            data: data.isEmpty ? nil : .object(data), errors: .array(errors.map(\.json)))
        retryAfter = response.retryAfter()
    }
}
