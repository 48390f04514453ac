public import FeathersCore

/// A JSON:API document with its structure as it is.
///
/// What is missing is told apart from what is empty: ``data`` nil and ``Data-swift.enum/null`` are two things.
public struct JSONAPIDocument: Hashable, Sendable {
    /// The primary data; nil where the document has none.
    public var data: Data?
    /// The resources that came along; nil where the member is missing.
    public var included: [JSONAPIResource]?
    /// The errors, which make the document a failure; nil where the member is missing.
    public var errors: [JSONAPIErrorObject]?
    /// What is said beside the data: totals, for example.
    public var meta: JSONObject?
    /// Links of the document as a whole: `self`, `next` …
    public var links: JSONAPILinks
    /// What the server says of its implementation.
    public var jsonapi: JSONAPIImplementation?
    /// Members of extensions, by their whole names: `atomic:results`.
    public var extensionMembers: JSONObject

    /// The primary data of a document: resources, or identifiers of resources.
    public enum Data: Hashable, Sendable {
        /// One resource was asked for, and there is none.
        case null
        case one(JSONAPIResource)
        case many([JSONAPIResource])

        /// The resources, in their order.
        public var resources: [JSONAPIResource] {
            switch self {
            case .null: []
            case .one(let resource): [resource]
            case .many(let resources): resources
            }
        }
    }

    /// A document; the parameters are the properties of the same names. It is not checked, see ``violations(as:)``.
    public init(
        data: Data? = nil, included: [JSONAPIResource]? = nil, errors: [JSONAPIErrorObject]? = nil, meta: JSONObject? = nil,
        links: JSONAPILinks = JSONAPILinks(), jsonapi: JSONAPIImplementation? = nil, extensionMembers: JSONObject = [:]
    ) {
        self.data = data
        self.included = included
        self.errors = errors
        self.meta = meta
        self.links = links
        self.jsonapi = jsonapi
        self.extensionMembers = extensionMembers
    }
}
