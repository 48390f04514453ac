public import Foundation

/// Records of one test's own on the JSON:API server: 4 people, 12 posts, 30 comments and 3 media to begin with.
///
/// See `Tests/Support/Backend/jsonapi/__init__.py` for the endpoints, `schema.py` for the types and `seed.py` for the records.
public struct JSONAPISpace: Sendable {
    /// The base URL: `http://127.0.0.1:PORT/SPACE`.
    public let url: URL
    private let control: URL

    /// Seeds a new space.
    public init(_ settings: JSONAPISettings = JSONAPISettings()) async throws {
        let server = try await TestBackend.jsonAPI()
        let name = UUID().uuidString.lowercased()
        url = server.appending(path: name)
        control = server.appending(path: "__spaces/\(name)")
        try await reset(settings)
    }

    /// Brings the first records back, from now on with these settings.
    ///
    /// - Throws: ``TestControl/Refused`` for settings the server does not have.
    public func reset(_ settings: JSONAPISettings = JSONAPISettings()) async throws {
        _ = try await TestControl.post(settings, to: control)
    }
}

/// How a space behaves where JSON:API leaves a choice; nil is the usual way.
///
/// See `Tests/Support/Backend/jsonapi/settings.py` for every member's values.
public struct JSONAPISettings: Encodable, Sendable {
    public var access: String?
    public var links: String?
    public var linkage: String?
    public var create: String?
    public var update: String?
    public var remove: String?
    public var relationship: String?
    public var pagination: String?
    public var totals: String?
    public var absentLinks: String?
    public var rangePagination: Bool?
    public var replacement: Bool?
    public var emptyResults: String?
    public var errorTypes: String?
    public var pageSizes: String?
    public var pageSize: Int?
    public var maxPageSize: Int?
    public var jobPolls: Int?
    public var retryAfter: Int?

    public init(_ change: (inout JSONAPISettings) -> Void = { _ in }) {
        change(&self)
    }
}
