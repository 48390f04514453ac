import FeathersCore

/// What all resources of one document share while models are decoded: where each stands, and what has been decoded already.
///
/// It lives as long as one decoding and is used by one task.
final class ResourcePool {
    let codec: JSONAPICodec
    /// The primary resources, then the included ones.
    let resources: [JSONAPIResource]
    private let primaryCount: Int
    private let isList: Bool

    /// How many resources a resource on the way from the primary one stands inside of; -1 for those that are not on it.
    private var depths: [Int]
    private var depth = 0
    /// The place on the way of the outermost resource at which a circle was cut since this was last set.
    private var outermostCut = Int.max
    /// How many more resources inside others are decoded. Models that lead to each other in circles can ask for any number.
    private var remaining: Int

    /// What each resource was decoded into first, which is nearly always all: a table by position is read faster than one by key.
    private var decoded: [Decoded?]
    private var decodedOtherwise: [DecodedKey: Any] = [:]
    private var wireNames: [String: WireKey] = [:]
    private var types: [ObjectIdentifier: String?] = [:]
    /// The models that an identifier is not enough for, so that trying once is enough.
    private var needingMore: Set<ObjectIdentifier> = []

    init(_ document: JSONAPIDocument, codec: JSONAPICodec) {
        self.codec = codec
        let primary = document.data?.resources ?? []
        resources = primary + (document.included ?? [])
        primaryCount = primary.count
        if case .many? = document.data { isList = true } else { isList = false }
        depths = [Int](repeating: -1, count: resources.count)
        decoded = [Decoded?](repeating: nil, count: resources.count)
        remaining = 1000 + 100 * resources.count
    }

    /// Where each resource stands, made when the first relationship is followed. Of resources that repeat, the first counts.
    private lazy var positions: [ResourceKey: Int] = {
        var positions = [ResourceKey: Int](minimumCapacity: resources.count)
        for (position, resource) in resources.enumerated() {
            if let id = resource.id { insert(ResourceKey(type: resource.type, id: id)) }
            if let lid = resource.lid { insert(ResourceKey(type: resource.type, id: lid, isLocal: true)) }
            func insert(_ key: ResourceKey) {
                positions[key, default: position] = positions[key] ?? position
            }
        }
        return positions
    }()

    /// Where the resource of an identifier stands; nil where it did not come along.
    func position(of key: ResourceKey) -> Int? {
        positions[key]
    }

    func pointer(to position: Int) -> JSONPointer {
        let data = JSONPointer.root.appending("data")
        guard position < primaryCount else { return JSONPointer.root.appending("included").appending(position - primaryCount) }
        return isList ? data.appending(position) : data
    }

    /// The key under which a property stands in the document.
    func wireKey(_ property: String) -> WireKey {
        if codec.keys.isIdentity { return WireKey(property) }
        if let known = wireNames[property] { return known }
        let key = WireKey(codec.keys.wireName(of: property))
        wireNames[property] = key
        return key
    }

    /// The type of resource a model is made for; nil for what is made for several.
    func expectedType(_ model: any Any.Type) -> String? {
        if let known = types[ObjectIdentifier(model)] { return known }
        let type = (model as? any JSONAPIModel.Type)?.type
        types[ObjectIdentifier(model)] = .some(type)
        return type
    }
}

extension ResourcePool {
    /// Whether a model is known to need more than an identifier.
    func needsMore(_ model: any Any.Type) -> Bool { needingMore.contains(ObjectIdentifier(model)) }

    func noteNeedsMore(_ model: any Any.Type) { needingMore.insert(ObjectIdentifier(model)) }
}

extension ResourcePool {
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
        if let first = decoded[position] {
            if first.model == model { return first.value as? Model }
            return decodedOtherwise[DecodedKey(position: position, model: model)] as? Model
        }
        return nil
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
    /// - Throws: ``JSONAPIError`` with the place in the document, ``JSONAPIUnknownType``, and whatever the model's own `init(from:)` throws.
    func decode<Model: Decodable>(_ type: Model.Type, at position: Int) throws -> Model {
        let resource = resources[position]
        if let expected = expectedType(type), expected != resource.type {
            throw JSONAPIError(
                pointer(to: position).appending("type"),
                "A resource of type '\(resource.type)' is no \(type), which is of type '\(expected)'")
        }
        do {
            return try Model(from: ResourceNode(resource, pool: self))
        } catch let error as DecodingError {
            throw JSONAPIError(error, in: resource, at: pointer(to: position))
        }
    }

    /// Decodes a resource inside another one; nil where it is already on the way to itself.
    func decodeRelated<Model: Decodable>(_ type: Model.Type, at position: Int) throws -> Model? {
        if depths[position] >= 0 {
            outermostCut = min(outermostCut, depths[position])
            return nil
        }
        if let known = known(type, at: position) { return known }
        guard depth < codec.maximumNesting else {
            throw JSONAPIError(pointer(to: position), "More than \(codec.maximumNesting) resources stand inside each other")
        }
        guard remaining > 0 else {
            throw JSONAPIError(
                pointer(to: position), "The resources lead to each other in too many ways for models inside each other; ask for identifiers"
            )
        }
        remaining -= 1
        let cutBefore = outermostCut
        outermostCut = .max
        let model = try onTheWay(position) { try decode(type, at: position) }
        // What was cut because of a resource further out is whole when it is reached otherwise.
        if outermostCut >= depth { note(model, at: position) }
        outermostCut = min(cutBefore, outermostCut < depth ? outermostCut : .max)
        return model
    }

    /// Decodes a primary resource.
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
