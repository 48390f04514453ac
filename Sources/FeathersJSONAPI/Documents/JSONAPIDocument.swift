public import FeathersCore

/// A JSON:API document.
///
/// A missing member and an empty one are distinct: a ``data`` of nil is not ``Data-swift.enum/null``.
///
/// ## Topics
///
/// ### Reading and writing
/// - ``init(parsing:)``
/// - ``init(_:)``
/// - ``serialized(as:)``
/// - ``json``
///
/// ### Members
/// - ``data-swift.property``
/// - ``included``
/// - ``errors``
/// - ``meta``
/// - ``links``
/// - ``jsonapi``
/// - ``extensionMembers``
///
/// ### Validation
/// - ``violations(as:)``
/// - ``violations(in:as:)``
public struct JSONAPIDocument: Hashable, Sendable {
    /// The primary data; nil if the member is missing.
    public var data: Data?
    /// The included resources; nil if the member is missing.
    public var included: [JSONAPIResource]?
    /// The errors, whose presence makes the document a failure; nil if the member is missing.
    public var errors: [JSONAPIErrorObject]?
    /// The metadata of the document, such as totals.
    public var meta: JSONObject?
    /// The document's links, such as `self` and `next`.
    public var links: JSONAPILinks
    /// The server's description of its implementation: `version`, `ext`, `profile`, and `meta`.
    public var jsonapi: JSONObject?
    /// The members of extensions by their full names, such as `atomic:results`.
    public var extensionMembers: JSONObject

    /// The primary data of a document: resources, or resource identifiers.
    public enum Data: Hashable, Sendable {
        /// A single resource was requested, and it does not exist.
        case null
        case one(JSONAPIResource)
        case many([JSONAPIResource])

        /// The resources in document order.
        public var resources: [JSONAPIResource] {
            switch self {
            case .null: []
            case .one(let resource): [resource]
            case .many(let resources): resources
            }
        }
    }

    /// The purpose of a document, which determines what it must contain.
    public enum Role: Hashable, Sendable {
        /// A response.
        case response
        /// A response to a request with sparse fieldsets, which may omit the linkage to an included resource.
        case sparseResponse
        /// A request that creates a resource. It may lack an id, and its relationships must have data.
        case creation
        /// A request that changes a resource. It must have an id.
        case update
        /// A request that changes a relationship. Its data are identifiers.
        case relationship
    }

    /// Creates a document without checking it; to check it, see ``violations(as:)``.
    public init(
        data: Data? = nil, included: [JSONAPIResource]? = nil, errors: [JSONAPIErrorObject]? = nil,
        meta: JSONObject? = nil,
        links: JSONAPILinks = JSONAPILinks(), jsonapi: JSONObject? = nil, extensionMembers: JSONObject = [:]
    ) {
        self.data = data
        self.included = included
        self.errors = errors
        self.meta = meta
        self.links = links
        self.jsonapi = jsonapi
        self.extensionMembers = extensionMembers
    }

    /// Creates a document with the contents of a relationship.
    init(linkage: JSONAPILinkage) {
        switch linkage {
        case .null: self.init(data: .null)
        case .one(let identifier): self.init(data: .one(JSONAPIResource(identifier)))
        case .many(let identifiers): self.init(data: .many(identifiers.map(JSONAPIResource.init)))
        }
    }
}

// MARK: Reading

extension JSONAPIDocument {
    /// Reads a document from JSON.
    ///
    /// Reading is lenient, as the specification requires: it ignores unknown members, members with a value of the wrong
    /// kind, and included resources without a type. ``violations(in:as:)`` reports all of them.
    /// - Throws: ``JSONAPIError`` if the document lacks all of `data`, `errors`, `meta`, and members of extensions, or
    ///   if the primary data are not resources.
    public init(_ json: JSONValue) throws(JSONAPIError) {
        guard case .object(let object) = json else { throw JSONAPIError(.root, "A document must be an object") }
        self.init()
        for (name, value) in object {
            switch name {
            case "data": data = try Data(reading: value)
            case "included":
                included = value.array.map { $0.compactMap { try? JSONAPIResource(reading: $0, at: .root) } }
            case "errors":
                errors = value.array.map { $0.compactMap { $0.object.map(JSONAPIErrorObject.init(reading:)) } }
            case "meta": meta = value.object
            case "links": links = JSONAPILinks(reading: value)
            case "jsonapi": jsonapi = value.object
            default: if MemberName.isExtension(name) { extensionMembers[name] = value }
            }
        }
        guard data != nil || errors != nil || meta != nil || !extensionMembers.isEmpty else {
            throw JSONAPIError(.root, "A document must have 'data', 'errors', or 'meta'")
        }
    }

    /// Reads a document from the bytes of its JSON text.
    /// - Throws: ``JSONAPIError``, including if the bytes are not JSON.
    public init(parsing bytes: some Collection<UInt8>) throws(JSONAPIError) {
        try self.init(JSONValue(document: bytes))
    }
}

extension JSONAPIDocument.Data {
    init(reading json: JSONValue) throws(JSONAPIError) {
        switch json {
        case .null: self = .null
        case .object: self = .one(try JSONAPIResource(reading: json, at: .data))
        case .array(let elements):
            var resources: [JSONAPIResource] = []
            resources.reserveCapacity(elements.count)
            for (index, element) in elements.enumerated() {
                resources.append(try JSONAPIResource(reading: element, at: .data.appending(index)))
            }
            self = .many(resources)
        default: throw JSONAPIError(.data, "'data' must be a resource, an array of resources, or null")
        }
    }

    /// The data as JSON.
    public var json: JSONValue {
        switch self {
        case .null: .null
        case .one(let resource): resource.json
        case .many(let resources): .array(resources.map(\.json))
        }
    }
}

// MARK: Writing

extension JSONAPIDocument {
    /// The document as JSON, even if it violates the specification.
    public var json: JSONValue {
        var json: JSONObject = [:]
        json["jsonapi"] = jsonapi.map(JSONValue.object)
        json["data"] = data?.json
        json["errors"] = errors.map { .array($0.map(\.json)) }
        json["included"] = included.map { .array($0.map(\.json)) }
        json.set(links, meta, extensionMembers)
        return .object(json)
    }

    /// Returns the document as UTF-8 JSON text.
    /// - Throws: The first ``JSONAPIError`` in ``violations(as:)``, or one for a number that JSON cannot represent.
    public func serialized(as role: Role = .response) throws(JSONAPIError) -> [UInt8] {
        let json = json
        if let violation = Self.violations(in: json, as: role).first { throw violation }
        do {
            return try json.serialized()
        } catch {
            throw JSONAPIError(.root, error.description)
        }
    }

    /// Returns every violation of the specification in the document.
    public func violations(as role: Role = .response) -> [JSONAPIError] { Self.violations(in: json, as: role) }

    /// Returns every violation of the specification (JSON:API 1.1) in a document, each with its location.
    public static func violations(in json: JSONValue, as role: Role = .response) -> [JSONAPIError] {
        var validator = DocumentValidator(role: role)
        validator.checkDocument(json)
        return validator.violations
    }
}

extension JSONObject {
    /// Sets the members that most objects in a document share, leaving out empty ones.
    mutating func set(_ links: JSONAPILinks, _ meta: JSONObject?, _ extensionMembers: JSONObject = [:]) {
        if !links.isEmpty { self["links"] = .object(links.json) }
        if let meta { self["meta"] = .object(meta) }
        for (name, value) in extensionMembers { self[name] = value }
    }
}
