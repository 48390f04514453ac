public import FeathersCore

extension JSONAPIDocument {
    /// Reads a document from JSON.
    ///
    /// It is lenient, as the specification wants readers to be: members it does not know are ignored, so are those that hold another kind of value
    /// than they must, and resources in `included` that have no type. ``violations(in:as:)`` tells all of that.
    /// - Throws: ``JSONAPIError`` where the document says nothing (it must have `data`, `errors`, `meta` or a member of an extension), or where its
    ///   primary data are no resources.
    public init(_ json: JSONValue) throws(JSONAPIError) {
        guard case .object(let object) = json else { throw JSONAPIError(.root, "A document must be an object") }
        self.init()
        for (name, value) in object {
            switch name {
            case "data": data = try Data(reading: value)
            case "included": included = value.array.map(Self.readIncluded)
            case "errors":
                errors = value.array.map { $0.compactMap { $0.object.map(JSONAPIErrorObject.init(reading:)) } }
            case "meta": meta = value.object
            case "links": links = JSONAPILinks(value.object ?? [:])
            case "jsonapi": jsonapi = value.object.map(JSONAPIImplementation.init(reading:))
            default: if MemberName.isExtension(name) { extensionMembers[name] = value }
            }
        }
        guard data != nil || errors != nil || meta != nil || !extensionMembers.isEmpty else {
            throw JSONAPIError(.root, "A document must have 'data', 'errors' or 'meta'")
        }
    }

    /// Reads a document from the bytes of its JSON text.
    /// - Throws: ``JSONAPIError``, for bytes that are no JSON text too.
    public init(parsing bytes: some Collection<UInt8>) throws(JSONAPIError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw JSONAPIError(.root, error.description)
        }
        try self.init(json)
    }

    private static func readIncluded(_ elements: [JSONValue]) -> [JSONAPIResource] {
        elements.compactMap { try? JSONAPIResource(reading: $0, at: .root) }
    }
}

extension JSONAPIDocument.Data {
    init(reading json: JSONValue) throws(JSONAPIError) {
        let pointer = JSONPointer.root.appending("data")
        switch json {
        case .null: self = .null
        case .object: self = .one(try JSONAPIResource(reading: json, at: pointer))
        case .array(let elements):
            var resources: [JSONAPIResource] = []
            resources.reserveCapacity(elements.count)
            for (index, element) in elements.enumerated() {
                resources.append(try JSONAPIResource(reading: element, at: pointer.appending(index)))
            }
            self = .many(resources)
        default: throw JSONAPIError(pointer, "'data' must be a resource, an array of resources or null")
        }
    }

    /// The data as they stand in a document.
    public var json: JSONValue {
        switch self {
        case .null: .null
        case .one(let resource): resource.json
        case .many(let resources): .array(resources.map(\.json))
        }
    }
}
