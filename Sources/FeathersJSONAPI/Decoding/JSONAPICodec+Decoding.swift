extension JSONAPICodec {
    /// Decodes the resource of a document; nil where its data are null.
    /// - Throws: ``JSONAPIError`` with the place of what does not fit the model, or where the document has no data or several resources, and
    ///   whatever the model's own `init(from:)` throws.
    public func decodeIfPresent<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, from document: JSONAPIDocument) throws -> Model? {
        switch document.data {
        case .one?: return try ResourcePool(document, codec: self).decodePrimary(type, at: 0)
        case .null?: return nil
        case .many?: throw JSONAPIError(JSONPointer.root.appending("data"), "One resource is expected, not an array")
        case nil: throw JSONAPIError(JSONPointer.root.appending("data"), "'data' is missing")
        }
    }

    /// Decodes the resource of a document.
    /// - Throws: as ``decodeIfPresent(_:from:)`` does, and where the document's data are null.
    public func decode<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, from document: JSONAPIDocument) throws -> Model {
        guard let model = try decodeIfPresent(type, from: document) else {
            throw JSONAPIError(JSONPointer.root.appending("data"), "A resource is expected, not null")
        }
        return model
    }

    /// Decodes the resources of a document.
    /// - Throws: as ``decodeIfPresent(_:from:)`` does; ``JSONAPIError`` where the document's data are no array.
    public func decodeList<Model: JSONAPIRelatable>(_ type: Model.Type = Model.self, from document: JSONAPIDocument) throws -> [Model] {
        guard case .many(let resources)? = document.data else {
            throw JSONAPIError(JSONPointer.root.appending("data"), "An array of resources is expected")
        }
        let pool = ResourcePool(document, codec: self)
        return try resources.indices.map { try pool.decodePrimary(type, at: $0) }
    }
}
