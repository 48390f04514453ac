import FeathersCore
import FeathersJSON

/// The resources of one document while models are decoded: their positions, and the models decoded so far.
///
/// A pool serves a single decoding, in a single task.
final class ResourcePool {
    let codec: JSONAPICodec
    private let document: DocumentSource
    /// Decodes the attributes of resources, and remembers their positions for similar resources.
    let attributes: JSONListDecoder
    /// The primary resources, then the included ones.
    let resources: [ResourceSource]
    private let index: ResourceIndex
    /// Whether each resource is the target of an included path; nil if every target counts.
    private var isIncluded: [Bool]?

    /// The nesting depth of each resource that is being decoded; -1 for the others.
    private var depths: [Int]
    private var depth = 0
    /// The depth of the outermost resource at which a cycle has been cut since the last reset.
    private var outermostCut = Int.max
    /// Closures that forget the stored models that contain themselves. Where such a model ends depends on the resource
    /// from which it is reached, and may differ for the next primary resource.
    private var forgetCycles: [() -> Void] = []
    /// The number of nested resources that may still be decoded. Models that refer to each other in cycles could
    /// request any number.
    private var remaining: Int

    /// The ``DecodedModels`` of each type.
    private var models: [ObjectIdentifier: AnyObject] = [:]
    private var wireNames: [String: WireKey] = [:]

    /// - Parameter include: The paths of the relationships whose targets are decoded, with everything that these
    ///   targets refer to among themselves; nil for all relationships.
    init(_ document: DocumentSource, codec: JSONAPICodec, including include: IncludePaths? = nil) {
        self.codec = codec
        self.document = document
        resources = document.resources
        index = ResourceIndex(resources)
        attributes = JSONListDecoder(codec.coding)
        depths = [Int](repeating: -1, count: resources.count)
        remaining = 1000 + 100 * resources.count
        if let include {
            var isIncluded = [Bool](repeating: false, count: resources.count)
            mark(&isIncluded, along: include, from: Set(0..<document.primaryCount))
            self.isIncluded = isIncluded
        }
    }

    /// Marks the targets of paths. All resources at the end of a path are followed together, so that even with cycles,
    /// the time depends only on the length of the paths.
    private func mark(_ isIncluded: inout [Bool], along include: IncludePaths, from positions: Set<Int>) {
        for (name, rest) in include.children {
            var targets: Set<Int> = []
            for position in positions {
                guard let data = resources[position].relationships?[name]?["data"] else { continue }
                targets.formUnion((data.array ?? [data]).compactMap { index.position(of: $0) })
            }
            for target in targets { isIncluded[target] = true }
            mark(&isIncluded, along: rest, from: targets)
        }
    }

    /// The position of the resource with an identifier; nil if the document does not have it, or the call did not
    /// include it.
    func position(of identifier: JSONValue) -> Int? {
        guard let position = index.position(of: identifier) else { return nil }
        return isIncluded.map { $0[position] } ?? true ? position : nil
    }

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

    func models<Model: Decodable>(of _: Model.Type) -> DecodedModels<Model> {
        // Nothing else is stored under a type. A checked cast would look up metadata for each relationship.
        let type = ObjectIdentifier(Model.self)
        if let known = models[type] { return unsafeDowncast(known, to: DecodedModels<Model>.self) }
        let new = DecodedModels<Model>()
        models[type] = new
        return new
    }

    /// Decodes a resource into a model.
    /// - Throws: ``JSONAPIError`` with the location in the document, ``JSONAPIUnknownType``, or any error from the
    ///   model's `init(from:)`.
    private func decode<Model: Decodable>(_ models: DecodedModels<Model>, at position: Int) throws -> Model {
        let resource = resources[position]
        if let expected = models.resourceType, expected != resource.type {
            throw JSONAPIError(
                pointer(to: position).appending("type"),
                "A resource of type '\(resource.type)' cannot be decoded as \(Model.self), "
                    + "which requires the type '\(expected)'")
        }
        depths[position] = depth
        depth += 1
        defer {
            depth -= 1
            depths[position] = -1
        }
        do {
            return try Model(from: ResourceNode(resource, pool: self))
        } catch let error as DecodingError {
            throw JSONAPIError(error, in: resource, at: pointer(to: position))
        }
    }

    /// Decodes a resource inside another one.
    /// - Returns: The index of the model, as ``DecodedModels`` describes it; nil if the resource itself is already
    ///   being decoded.
    func decodeRelated<Model: Decodable>(_ models: DecodedModels<Model>, at position: Int) throws -> Int? {
        if depths[position] >= 0 {
            outermostCut = min(outermostCut, depths[position])
            return nil
        }
        if let known = models.index(of: position) {
            // The model around it is forgotten together with it.
            if models.cycles.contains(position) { outermostCut = min(outermostCut, depth) }
            return known
        }
        guard depth < codec.maximumNesting else {
            throw JSONAPIError(
                pointer(to: position), "Resources are nested more than \(codec.maximumNesting) levels deep")
        }
        guard remaining > 0 else {
            throw JSONAPIError(
                pointer(to: position),
                "The resources refer to each other in too many ways to be decoded as nested models; "
                    + "use identifiers instead")
        }
        remaining -= 1
        let cutBefore = outermostCut
        outermostCut = .max
        let model = try decode(models, at: position)
        // A model that lacks an outer resource would be complete if reached by another path, so it is not stored.
        let (isComplete, isCyclic) = (outermostCut >= depth, outermostCut != .max)
        outermostCut = min(cutBefore, isComplete ? .max : outermostCut)
        guard isComplete else { return models.pass(model) }
        if isCyclic {
            models.cycles.insert(position)
            forgetCycles.append { models.forget(position) }
        }
        return models.store(model, at: position, of: resources.count)
    }

    /// Decodes an identifier in place of a resource.
    /// - Returns: The index of the model; nil if the model needs more than an identifier.
    func decodeIdentifier<Model: Decodable>(_ models: DecodedModels<Model>, _ source: JSONValue) -> Int? {
        guard !models.needMore, let identifier = JSONAPIIdentifier(reading: source) else { return nil }
        do {
            return models.pass(try Model(from: ResourceNode(ResourceSource(JSONAPIResource(identifier)), pool: self)))
        } catch {
            models.needMore = true
            return nil
        }
    }

    func decodePrimary<Model: Decodable>(_ models: DecodedModels<Model>, at position: Int) throws -> Model {
        defer {
            for forget in forgetCycles { forget() }
            forgetCycles = []
        }
        do {
            return try decode(models, at: position)
        } catch let unknown as JSONAPIUnknownType {
            throw JSONAPIError(
                pointer(to: position).appending("type"),
                "\(Model.self) has no model for resources of type '\(unknown.type)'")
        }
    }
}

/// The models of one type that have been decoded from a pool's resources, and what is known about the type.
///
/// Decoding returns the index of a model here, because each generic function that returns an optional model looks up
/// the metadata of its type, which together took a tenth of the decoding. An index is valid until the next model is
/// decoded.
final class DecodedModels<Model: Decodable> {
    /// The type of the resources that the models are decoded from; nil if any will do.
    let resourceType = (Model.self as? any JSONAPIModel.Type)?.type
    /// The type, if it is decoded from a relationship as a whole; nil for other types.
    let reader = Model.self as? any RelationshipReading.Type
    /// Whether decoding an identifier has failed, so that it is not tried again.
    var needMore = false

    /// The stored models, and one at ``spare`` that is passed on but not stored.
    private(set) var values: [Model] = []
    private var spare: Int?
    /// The resources whose stored models contain themselves.
    var cycles: Set<Int> = []
    /// For each resource, the position of its model in `values` plus one; 0 if it has none.
    private var positions: [Int32] = []

    func index(of resource: Int) -> Int? {
        guard !positions.isEmpty, positions[resource] != 0 else { return nil }
        return Int(positions[resource]) - 1
    }

    func store(_ model: Model, at resource: Int, of count: Int) -> Int {
        if positions.isEmpty { positions = [Int32](repeating: 0, count: count) }
        values.append(model)
        positions[resource] = Int32(truncatingIfNeeded: values.count)
        return values.count - 1
    }

    func forget(_ resource: Int) {
        positions[resource] = 0
        cycles.remove(resource)
    }

    func pass(_ model: Model) -> Int {
        if let spare {
            values[spare] = model
            return spare
        }
        values.append(model)
        spare = values.count - 1
        return values.count - 1
    }
}

extension JSONAPIError {
    /// Creates an error from a decoding error, with its location in the document.
    fileprivate init(_ error: DecodingError, in resource: ResourceSource, at pointer: JSONPointer) {
        func place(_ context: DecodingError.Context, _ missing: (any CodingKey)? = nil) -> JSONPointer {
            let path = context.codingPath + (missing.map { [$0] } ?? [])
            guard let first = path.first?.stringValue else { return pointer }
            if first == "id" || first == "lid" || first == "type" { return pointer.appending(path) }
            return pointer.appending(resource.relationships?[first] != nil ? "relationships" : "attributes").appending(
                path)
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
