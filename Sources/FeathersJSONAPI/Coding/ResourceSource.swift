import FeathersCore
import FeathersJSON

/// A resource to decode, from a document or directly from a document's text.
///
/// Only the members that identify the resource are read immediately. Most models need neither its links nor its meta. A class, since copies of a structure with this many
/// references took a tenth of the decoding.
final class ResourceSource: Sendable {
    let type: String
    let id: String?
    let lid: String?
    /// The object of the attributes; an empty one if the member is missing.
    let attributes: DecodingSource
    /// The relationships; nil if there are none.
    let relationships: DecodingMembers?
    private let rest: Rest

    private enum Rest: Sendable {
        case resource(JSONAPIResource)
        case text(DecodingMembers)
    }

    init(_ resource: JSONAPIResource) {
        (type, id, lid) = (resource.type, resource.id, resource.lid)
        attributes = .tree(.object(resource.attributes))
        relationships = resource.relationships.isEmpty ? nil : .tree(resource.relationships.json)
        rest = .resource(resource)
    }

    /// Reads a resource as ``JSONAPIResource/init(reading:at:)`` does.
    init(reading source: DecodingSource, at pointer: @autoclosure () -> JSONPointer) throws(JSONAPIError) {
        guard let members = source.members else { throw JSONAPIError(pointer(), "A resource must be an object") }
        guard let type = members["type"]?.string else {
            throw JSONAPIError(pointer().appending("type"), "A resource must have a 'type' that is a string")
        }
        self.type = type
        id = members["id"]?.identifierText
        lid = members["lid"]?.string
        let attributes = members["attributes"]
        self.attributes = attributes?.members == nil ? .tree([:]) : attributes ?? .tree([:])
        relationships = members["relationships"]?.members
        rest = .text(members)
    }

    var links: JSONAPILinks {
        switch rest {
        case .resource(let resource): resource.links
        case .text(let members): JSONAPILinks(reading: members["links"]?.json)
        }
    }

    var meta: JSONObject? {
        switch rest {
        case .resource(let resource): resource.meta
        case .text(let members): members["meta"]?.json.object
        }
    }
}

/// The primary data of a document to decode, and its included resources.
struct DocumentSource: Sendable {
    enum Shape {
        case null, one, many
    }

    /// The primary resources, then the included ones.
    private(set) var resources: [ResourceSource] = []
    private(set) var primaryCount = 0
    /// The form of the data; nil if the member is missing.
    private(set) var shape: Shape?
    /// The tape that the resources point into.
    private(set) var tape: JSONTape?

    /// The members of the document; nil if it has no tape.
    var members: DecodingMembers? { tape.flatMap { DecodingSource.text($0.root).members } }

    init(_ document: JSONAPIDocument) {
        let primary = document.data?.resources ?? []
        resources = primary.map(ResourceSource.init) + (document.included ?? []).map(ResourceSource.init)
        primaryCount = primary.count
        shape =
            switch document.data {
            case nil: nil
            case .null?: .null
            case .one?: .one
            case .many?: .many
            }
    }

    /// Reads the data of a document's text, or of its tree where a text has no tape.
    init(parsing bytes: [UInt8]) throws(JSONAPIError) {
        guard let source = try DocumentSource(marking: bytes) else {
            self.init(try JSONAPIDocument(parsing: bytes))
            return
        }
        self = source
    }

    /// Reads the data of a document's text; nil if the text has no tape or the document no data.
    init?(marking bytes: [UInt8]) throws(JSONAPIError) {
        do {
            tape = try JSONTape.marking(bytes)
        } catch {
            throw JSONAPIError(.root, error.description)
        }
        // Without data, the other members decide whether this is a document.
        guard let members, let data = members["data"] else { return nil }
        if let elements = data.elements {
            shape = .many
            try elements.forEach { element throws(JSONAPIError) in
                resources.append(try ResourceSource(reading: element, at: .data.appending(resources.count)))
            }
        } else if data.members != nil {
            shape = .one
            resources.append(try ResourceSource(reading: data, at: .data))
        } else if data.isNull {
            shape = .null
        } else {
            throw JSONAPIError(.data, "'data' must be a resource, an array of resources, or null")
        }
        primaryCount = resources.count
        members["included"]?.elements?.forEach { element in
            if let resource = try? ResourceSource(reading: element, at: .root) { resources.append(resource) }
        }
    }
}

extension DecodingSource {
    /// The text of an id, as ``JSONValue/identifierText``.
    var identifierText: String? { string ?? integer.map { String($0) } }
}
