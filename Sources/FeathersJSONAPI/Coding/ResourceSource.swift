import FeathersCore
import FeathersJSON

/// A resource to decode.
///
/// Only the members that identify the resource are read immediately. Most models need neither its links nor its meta.
/// It is a class because copying a structure with this many references took a tenth of the decoding time.
final class ResourceSource: Sendable {
    let type: String
    let id: String?
    let lid: String?
    let attributes: JSONObject
    /// The relationships; nil if there are none.
    let relationships: JSONObject?
    let meta: JSONObject?
    private let linksMember: JSONValue?

    init(_ resource: JSONAPIResource) {
        (type, id, lid) = (resource.type, resource.id, resource.lid)
        attributes = resource.attributes
        relationships = resource.relationships.isEmpty ? nil : resource.relationships.json
        meta = resource.meta
        linksMember = resource.links.isEmpty ? nil : .object(resource.links.json)
    }

    /// Reads a resource as ``JSONAPIResource/init(reading:at:)`` does.
    init(reading json: JSONValue, at pointer: @autoclosure () -> JSONPointer) throws(JSONAPIError) {
        guard case .object(let members) = json else { throw JSONAPIError(pointer(), "A resource must be an object") }
        guard case .string(let type)? = members["type"] else {
            throw JSONAPIError(pointer().appending("type"), "A resource must have a 'type' that is a string")
        }
        self.type = type
        id = members["id"]?.identifierText
        lid = members["lid"]?.string
        attributes = members["attributes"]?.object ?? [:]
        relationships = members["relationships"]?.object
        meta = members["meta"]?.object
        linksMember = members["links"]
    }

    var links: JSONAPILinks { JSONAPILinks(reading: linksMember) }
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

    /// Reads the data of a document.
    /// - Throws: ``JSONAPIError`` under the same conditions as ``JSONAPIDocument/init(_:)``.
    init(reading json: JSONValue) throws(JSONAPIError) {
        // Without data, the other members decide whether this is a document.
        guard let members = json.object, let data = members["data"] else {
            self = DocumentSource(try JSONAPIDocument(json))
            return
        }
        switch data {
        case .array(let elements):
            shape = .many
            resources.reserveCapacity(elements.count + (members["included"]?.array?.count ?? 0))
            for element in elements {
                resources.append(try ResourceSource(reading: element, at: .data.appending(resources.count)))
            }
        case .object:
            shape = .one
            resources.append(try ResourceSource(reading: data, at: .data))
        case .null: shape = .null
        default: throw JSONAPIError(.data, "'data' must be a resource, an array of resources, or null")
        }
        primaryCount = resources.count
        for element in members["included"]?.array ?? [] {
            if let resource = try? ResourceSource(reading: element, at: .root) { resources.append(resource) }
        }
    }
}

extension JSONValue {
    /// Parses the text of a document.
    /// - Throws: ``JSONAPIError`` if it is not JSON.
    init(document text: some Collection<UInt8>) throws(JSONAPIError) {
        do {
            try self.init(parsing: text)
        } catch {
            throw JSONAPIError(.root, error.description)
        }
    }
}
