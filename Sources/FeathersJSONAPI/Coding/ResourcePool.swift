import FeathersCore
import FeathersJSON

/// The resources of one document while models are decoded: their positions, and the models decoded so far.
///
/// A pool serves a single decoding, in a single task.
final class ResourcePool {
    let codec: JSONAPICodec
    private let document: DocumentSource
    /// Decodes the attributes of resources, and remembers where those of similar ones are.
    let attributes: JSONListDecoder

    /// The nesting depth of each resource that is being decoded; -1 for the others.
    private var depths: [Int]
    private var depth = 0
    /// The depth of the outermost resource at which a cycle has been cut since the last reset.
    private var outermostCut = Int.max
    /// The number of nested resources that may still be decoded. Models that refer to each other in cycles could request any number.
    private var remaining: Int

    /// The first value decoded from each resource, nearly always the only one. An array indexed by position is faster than a dictionary.
    private var decoded: [Decoded?]
    private var decodedOtherwise: [DecodedKey: Any] = [:]
    private var wireNames: [String: WireKey] = [:]
    private var types: [ObjectIdentifier: String?] = [:]
    private var readers: [ObjectIdentifier: (any RelationshipReading.Type)?] = [:]
    /// The models that an identifier is not enough for, stored so that each is tried only once.
    private var needingMore: Set<ObjectIdentifier> = []

    init(_ document: DocumentSource, codec: JSONAPICodec) {
        self.codec = codec
        self.document = document
        attributes = document.tape.map { JSONListDecoder(codec.coding, text: $0) } ?? JSONListDecoder(codec.coding)
        depths = [Int](repeating: -1, count: document.resources.count)
        decoded = [Decoded?](repeating: nil, count: document.resources.count)
        remaining = 1000 + 100 * document.resources.count
    }

    /// The primary resources, then the included ones.
    var resources: [ResourceSource] { document.resources }

    /// The positions by identity, computed when the first relationship is followed.
    private lazy var index = ResourceIndex(document.resources)

    /// The position of the resource with an identifier; nil if the document does not have it.
    func position(of identifier: DecodingSource) -> Int? { index.position(of: identifier, in: document.resources) }

    func pointer(to position: Int) -> JSONPointer {
        guard position < document.primaryCount else { return .included.appending(position - document.primaryCount) }
        return document.shape == .many ? .data.appending(position) : .data
    }

    func wireKey(_ property: String) -> WireKey {
        if codec.keys.isIdentity { return WireKey(property) }
        if let known = wireNames[property] { return known }
        let key = WireKey(codec.keys.wireName(of: property))
        wireNames[property] = key
        return key
    }

    /// Returns the resource type for a model; nil if the model is not limited to one type.
    func expectedType(_ model: any Any.Type) -> String? {
        if let known = types[ObjectIdentifier(model)] { return known }
        let type = (model as? any JSONAPIModel.Type)?.type
        types[ObjectIdentifier(model)] = .some(type)
        return type
    }

    /// The type as one that is decoded from a relationship as a whole; nil for other types. Cached, since the cast is slow.
    func relationshipReader(_ type: any Any.Type) -> (any RelationshipReading.Type)? {
        if let known = readers[ObjectIdentifier(type)] { return known }
        let reader = type as? any RelationshipReading.Type
        readers[ObjectIdentifier(type)] = .some(reader)
        return reader
    }

    private struct Decoded {
        let model: ObjectIdentifier
        let value: Any
    }

    private struct DecodedKey: Hashable {
        let position: Int
        let model: ObjectIdentifier
    }

    private func known<Model>(_ type: Model.Type, at position: Int) -> Model? {
        let model = ObjectIdentifier(type)
        guard let first = decoded[position] else { return nil }
        let value: Any? = first.model == model ? first.value : decodedOtherwise[DecodedKey(position: position, model: model)]
        return value as? Model
    }

    private func note<Model>(_ value: Model, at position: Int) {
        let model = ObjectIdentifier(Model.self)
        if decoded[position] == nil {
            decoded[position] = Decoded(model: model, value: value)
        } else {
            decodedOtherwise[DecodedKey(position: position, model: model)] = value
        }
    }

    /// Decodes a resource into a model.
    /// - Throws: ``JSONAPIError`` with the location in the document, ``JSONAPIUnknownType``, or any error from the model's `init(from:)`.
    private func decode<Model: Decodable>(_ type: Model.Type, at position: Int) throws -> Model {
        let resource = resources[position]
        if let expected = expectedType(type), expected != resource.type {
            throw JSONAPIError(
                pointer(to: position).appending("type"),
                "A resource of type '\(resource.type)' cannot be decoded as \(type), which requires the type '\(expected)'")
        }
        do {
            return try Model(from: ResourceNode(resource, pool: self))
        } catch let error as DecodingError {
            throw JSONAPIError(error, in: resource, at: pointer(to: position))
        }
    }

    /// Decodes a resource inside another one; nil if the resource itself is already being decoded.
    func decodeRelated<Model: Decodable>(_ type: Model.Type, at position: Int) throws -> Model? {
        if depths[position] >= 0 {
            outermostCut = min(outermostCut, depths[position])
            return nil
        }
        if let known = known(type, at: position) { return known }
        guard depth < codec.maximumNesting else {
            throw JSONAPIError(pointer(to: position), "Resources are nested more than \(codec.maximumNesting) levels deep")
        }
        guard remaining > 0 else {
            throw JSONAPIError(
                pointer(to: position),
                "The resources refer to each other in too many ways to be decoded as nested models; use identifiers instead")
        }
        remaining -= 1
        let cutBefore = outermostCut
        outermostCut = .max
        let model = try onTheWay(position) { try decode(type, at: position) }
        // A model that lacks an outer resource is complete when it is reached by another path, so it is not stored.
        if outermostCut >= depth { note(model, at: position) }
        outermostCut = min(cutBefore, outermostCut < depth ? outermostCut : .max)
        return model
    }

    /// Decodes an identifier in place of a resource; nil if the model needs more than an identifier.
    func decodeIdentifier<Model: Decodable>(_ type: Model.Type, _ source: DecodingSource) -> Model? {
        guard !needingMore.contains(ObjectIdentifier(type)), let identifier = JSONAPIIdentifier(reading: source.json) else { return nil }
        do {
            return try Model(from: ResourceNode(ResourceSource(JSONAPIResource(identifier)), pool: self))
        } catch {
            needingMore.insert(ObjectIdentifier(type))
            return nil
        }
    }

    func decodePrimary<Model: Decodable>(_ type: Model.Type, at position: Int) throws -> Model {
        do {
            return try onTheWay(position) { try decode(type, at: position) }
        } catch let unknown as JSONAPIUnknownType {
            throw JSONAPIError(pointer(to: position).appending("type"), "\(type) has no model for resources of type '\(unknown.type)'")
        }
    }

    private func onTheWay<Result>(_ position: Int, _ body: () throws -> Result) rethrows -> Result {
        depths[position] = depth
        depth += 1
        defer {
            depth -= 1
            depths[position] = -1
        }
        return try body()
    }
}

extension JSONAPIError {
    /// Creates an error from a decoding error, with its location in the document.
    fileprivate init(_ error: DecodingError, in resource: ResourceSource, at pointer: JSONPointer) {
        func place(_ context: DecodingError.Context, _ missing: (any CodingKey)? = nil) -> JSONPointer {
            let path = context.codingPath + (missing.map { [$0] } ?? [])
            guard let first = path.first?.stringValue else { return pointer }
            if first == "id" || first == "lid" || first == "type" { return pointer.appending(path) }
            return pointer.appending(resource.relationships?[first] != nil ? "relationships" : "attributes").appending(path)
        }
        switch error {
        case .keyNotFound(let key, let context): self.init(place(context, key), "'\(key.stringValue)' is missing")
        case .valueNotFound(let type, let context): self.init(place(context), "Expected \(type) but found null")
        case .typeMismatch(_, let context): self.init(place(context), context.debugDescription)
        case .dataCorrupted(let context): self.init(place(context), context.debugDescription)
        @unknown default: self.init(pointer, "The resource cannot be decoded")
        }
    }
}
