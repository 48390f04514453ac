import FeathersCore
import Foundation

@testable import FeathersREST

extension RecordedRequest {
    /// The service call behind this request, read from verb, target, headers and body alone.
    func serviceRequest(isVersion6: Bool) -> ServiceRequest {
        let pieces = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let (path, route, id) = Self.place(String(pieces[0]))
        let query = pieces.count > 1 ? Query(parsing: String(pieces[1])) : Query<JSONValue>()
        let method = serviceMethod(hasID: id != nil)
        var params = Params(query: query, headers: callHeaders(method), route: route)
        if isVersion6, data == nil, let upload {
            params.uploadContent = Upload(body: upload, codec: CodingOptions(), progress: nil)
            params.headers["Content-Type"] = nil
            params.headers["content-type"] = nil
        }
        return ServiceRequest(path: path, method: method, id: id.map { ServiceID($0) }, data: data, params: params)
    }

    /// The body of a form or of raw bytes; nil if there is none.
    private var upload: EndpointBody? {
        guard let body, body.isWhole, let type = header("content-type") else { return nil }
        guard let boundary = multipartBoundary else {
            return .data(Data(body.bytes), contentType: HTTPContentType(rawValue: type))
        }
        return .multipart(RecordedForm.parts(of: body.bytes, boundary: boundary))
    }

    /// The text between the parts of a form.
    var multipartBoundary: String? {
        guard let type = header("content-type"), type.hasPrefix("multipart/form-data") else { return nil }
        return type.split(separator: "boundary=", maxSplits: 1).last.map(String.init)
    }

    private var data: JSONValue? {
        body.flatMap { try? JSONValue(parsing: $0.bytes) }
    }

    private func serviceMethod(hasID: Bool) -> ServiceMethod {
        switch method {
        case "POST":
            let custom = header("X-Service-Method").map(ServiceMethod.init(rawValue:))
            return custom.flatMap { $0.isCustom ? $0 : nil } ?? .create
        case "PUT": return .update
        case "PATCH": return .patch
        case "DELETE": return .remove
        default: return hasID ? .get : .find
        }
    }

    /// The fields a caller must have given: neither the HTTP client's own nor what our transport adds by itself.
    private func callHeaders(_ method: ServiceMethod) -> [String: String] {
        var fields: [String: String] = [:]
        for field in headers where !Self.clientFields.contains(field.name.lowercased()) {
            switch (field.name.lowercased(), field.value) {
            case ("accept", "application/json"), ("content-type", "application/json"): continue
            case ("x-service-method", method.rawValue) where method.isCustom: continue
            default: fields[field.name] = field.value
            }
        }
        return fields
    }

    /// What belongs to node's fetch, or frames the message.
    static let clientFields: Set<String> = [
        "host", "connection", "user-agent", "accept-language", "sec-fetch-mode", "accept-encoding", "content-length",
        "transfer-encoding",
    ]

    /// Services whose records are the rest of the path.
    private static let services: Set<String> = [
        "messages", "todos", "single", "users", "authentication", "secured", "slow", "errors", "big", "echo",
        "httpmeta", "control",
        "streams",
        "results", "meta", "uploads", "blobs",
    ]

    /// A target's path as service path, route values and id.
    private static func place(_ path: String) -> (path: String, route: [String: String], id: String?) {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard let first = segments.first else { return ("", [:], nil) }
        if first == "teams", segments.count == 5, segments[4] == "roles" {
            return (
                "teams/:teamId/members/:memberId/roles",
                ["teamId": decoded(segments[1]), "memberId": decoded(segments[3])], nil
            )
        }
        if first == "teams", segments.count >= 3, segments[2] == "members" {
            return ("teams/:teamId/members", ["teamId": decoded(segments[1])], id(segments.dropFirst(3)))
        }
        if services.contains(first) || segments.count <= 2 {
            return (first, [:], id(segments.dropFirst()))
        }
        // A path of several segments that no contract names: all of it is the service's.
        return (segments.joined(separator: "/"), [:], nil)
    }

    private static func id(_ segments: ArraySlice<String>) -> String? {
        segments.isEmpty ? nil : decoded(segments.joined(separator: "/"))
    }

    private static func decoded(_ text: String) -> String {
        text.removingPercentEncoding ?? text
    }
}
