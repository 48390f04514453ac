extension Params {
    /// Whether to skip records that cannot be decoded in lists; false by default.
    ///
    /// Each skipped record is reported as a warning in the app's diagnostics. Without this setting, the first one fails
    /// the call.
    ///
    /// ```swift
    /// var params = Params()
    /// params.skipsUndecodableRecords = true
    /// let messages = try await app.service("messages", of: Message.self).find(params: params)
    /// ```
    public var skipsUndecodableRecords: Bool {
        get { self[SkipsUndecodableRecords.self] ?? false }
        set { self[SkipsUndecodableRecords.self] = newValue }
    }
}

private enum SkipsUndecodableRecords: ParamsKey { typealias Value = Bool }

/// A record of a list that cannot be decoded.
struct UndecodableRecord: Error {
    /// The position in the list, starting at 0; nil if there is none.
    let index: Int?
    /// The record's id, if it has one.
    let id: ServiceID?
    let error: any Error

    init(index: Int?, _ record: JSONValue, _ error: any Error) {
        self.index = index
        self.error = error
        id = (record["id"] ?? record["_id"]).flatMap { ServiceID($0) }
    }
}

extension Service {
    /// Decodes a record of a list; returns nil if it cannot be decoded and the call's params allow skipping it.
    /// - Parameters:
    ///   - json: The record.
    ///   - index: Its position in the list, starting at 0; nil if there is none.
    ///   - method: The method that was called.
    ///   - params: The params of the call.
    ///   - decode: Decodes a record. For several records, use ``listDecoder(for:)``.
    package func decodeListed(
        _ json: JSONValue, at index: Int?, of method: ServiceMethod = .find, _ params: Params,
        _ decode: (JSONValue) throws -> Model
    ) throws -> Model? {
        do {
            return try decode(json)
        } catch {
            let record = UndecodableRecord(index: index, json, error)
            let failure = FeathersError.undecodable(
                "The result of '\(method)' on service '\(path)'", as: Model.self, record)
            guard params.skipsUndecodableRecords else { throw failure }
            app.diagnostics.log(
                .warning, .calls, "A record was skipped: \(failure.message)", [.path: .string(path)], error: failure)
            return nil
        }
    }

    /// Returns a function that decodes the records of a list: one decoder for all of them, because it remembers the
    /// layout of similar records.
    package func listDecoder(for params: Params) -> (JSONValue) throws -> Model {
        if Model.self == JSONValue.self { return { try decodeRecord($0, params) } }
        let codec = codec(for: params)
        guard let options = codec as? CodingOptions else { return { try codec.decode(Model.self, from: $0) } }
        let decoder = JSONListDecoder(options)
        return { try decoder.decode(Model.self, from: $0) }
    }

    /// Decodes a list, skipping records that cannot be decoded.
    func decodePageSkipping(_ json: JSONValue, of method: ServiceMethod, _ params: Params) throws -> Page<Model> {
        let page = try page(json, of: method)
        let decode = listDecoder(for: params)
        let models = try page.data.enumerated().compactMap { try decodeListed($1, at: $0, of: method, params, decode) }
        return Page(data: models, total: page.total, limit: page.limit, skip: page.skip, extra: page.extra)
    }
}
