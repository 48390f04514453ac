import FeathersCore
import FeathersJSON
import FeathersNetworking
import FeathersSupport
import Foundation

/// Marks the calls of a ``JSONAPIService``, which decodes models from a ``ReceivedDocument``.
enum DecodesModels: ParamsKey { typealias Value = Bool }

/// A document whose resources are the result of a call. The result's plain records are made only if something reads
/// them, such as a hook.
final class ReceivedDocument: DeferredResult {
    private let reader: JSONAPIResponseReader
    private let source: DocumentSource
    private let members: JSONObject
    private let records = Locked<JSONValue?>(nil)

    /// Reads a document; nil if its resources are not the result.
    /// - Throws: ``JSONAPIError`` under the same conditions as ``JSONAPIDocument/init(_:)``.
    init?(_ json: JSONValue, reader: JSONAPIResponseReader) throws(JSONAPIError) {
        guard case .object(let members) = json, members["data"] != nil, members["errors"]?.array == nil else {
            return nil
        }
        let source = try DocumentSource(reading: json)
        switch (reader.exchange.expectation, source.shape) {
        case (.collection, .many?), (.resource, .one?), (.change, .one?), (.related, .one?), (.related, .many?): break
        default: return nil
        }
        (self.reader, self.source, self.members) = (reader, source, members)
    }

    // Never fails, because the document's resources have already been read.
    var document: JSONAPIDocument { (try? JSONAPIDocument(.object(members))) ?? JSONAPIDocument() }

    var json: JSONValue {
        records.withLock { records in
            if let records { return records }
            // Never fails, because the document has the expected resources.
            let made = (try? reader.result(of: document)) ?? .null
            records = made
            return made
        }
    }
}

extension ReceivedDocument {
    var links: JSONAPILinks { JSONAPILinks(reading: members["links"]) }
    var meta: JSONObject? { members["meta"]?.object }
    var total: Int? { meta.flatMap(reader.pages.total) }
    var url: String { reader.response.url.absoluteString }
    var cursors: [String?] { source.resources.prefix(source.primaryCount).map { $0.meta?["page"]?["cursor"]?.string } }

    /// Decodes the resource; nil if that fails. The error is then found by decoding the plain records.
    func decode<Model: JSONAPIRelatable>(_ type: Model.Type, with codec: JSONAPICodec) -> Model? {
        try? codec.keyed(as: reader.codec).decodeIfPresent(type, from: source, including: include)
    }

    /// Decodes the resources; nil if that fails. The error is then found by decoding the plain records.
    func decodeList<Model: JSONAPIRelatable>(of type: Model.Type, with codec: JSONAPICodec) -> [Model]? {
        try? codec.keyed(as: reader.codec).decodeList(type, from: source, including: include)
    }

    private var include: IncludePaths? { reader.exchange.include.map { IncludePaths($0) } }
}

extension JSONAPICodec {
    /// Returns the codec with the key style of the transport's codec, which has already been applied to plain records.
    fileprivate func keyed(as transport: JSONAPICodec) -> JSONAPICodec {
        var codec = self
        codec.keys = transport.keys
        return codec
    }
}

extension ServiceResponse {
    /// The response's document, unless a hook has set another result.
    var receivedDocument: ReceivedDocument? { deferredResult as? ReceivedDocument }
}

extension Service where Model == JSONValue {
    /// Makes a call whose result is decoded into models.
    func response(
        to method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, query: Query<JSONValue>, params: Params
    ) async throws -> ServiceResponse {
        var request = ServiceRequest(path: path, method: method, id: id, data: data, params: params.joining(query))
        request.params[DecodesModels.self] = true
        return try await respond(to: request)
    }
}
