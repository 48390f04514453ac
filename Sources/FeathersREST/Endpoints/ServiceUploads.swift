public import FeathersCore
public import FeathersNetworking
public import Foundation

extension Service {
    /// Creates a record from a file, which is read while it is sent and never held in memory as a whole. Requires
    /// FeathersJS 6, or a server that accepts such bodies.
    ///
    /// ```swift
    /// try await uploads.create(file: url, contentType: .mp4) { print($0.fraction ?? 0) }
    /// ```
    /// The parameters and errors are those of ``upload(_:method:id:query:params:progress:)``.
    /// - Parameters:
    ///   - file: The location of the file. Its bytes are the body of the request.
    ///   - contentType: The content type; nil derives it from the filename extension.
    ///   - query: The properties of the result, and whatever else the service reads from the query.
    ///   - params: Header fields, a deadline, and values of your own for hooks.
    ///   - progress: Called as bytes are sent and received.
    @concurrent @discardableResult
    public func create(
        file: URL, contentType: HTTPContentType? = nil, query: Query<Model> = Query(), params: Params = Params(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Model {
        try await upload(.file(file, contentType: contentType), query: query, params: params, progress: progress)
    }

    /// Creates a record from bytes that are produced while they are sent; see ``EndpointBody/stream(_:contentType:)``.
    ///
    /// The other parameters and errors are those of ``upload(_:method:id:query:params:progress:)``, and the stream's
    /// own errors.
    @concurrent @discardableResult
    public func create<Pieces: AsyncSequence & Sendable>(
        stream pieces: Pieces, contentType: HTTPContentType = .binary, query: Query<Model> = Query(),
        params: Params = Params(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Model where Pieces.Element == Data {
        try await upload(.stream(pieces, contentType: contentType), query: query, params: params, progress: progress)
    }

    /// Sends a body that isn't JSON to a method of the service: a file, bytes, a stream, or a form with files.
    ///
    /// ```swift
    /// try await uploads.upload(.multipart([.field("album", "7"), .file("photo", at: url)]))
    /// ```
    /// FeathersJS 6 passes a form to the service as an object, and any other body as a stream. The hooks of the app and
    /// the service run as for any call, but don't see the body: `data` is nil. Files are opened when the request is
    /// sent, and read again if it is sent again.
    ///
    /// Uploads go over HTTP, so the app's transport must be or contain REST. Without a timeout in `params`, an upload
    /// may take as long as data keeps moving.
    /// - Parameters:
    ///   - body: The body.
    ///   - method: The method: `create`, `update`, `patch`, or a custom one.
    ///   - id: The record's id, for the methods that have one.
    ///   - query: The query, which joins that of the params.
    ///   - params: The other parameters.
    ///   - progress: A closure that receives the progress. It is called often, and on the HTTP client's own thread, so
    ///     it must return quickly.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, for a method without a body, an app
    ///   without REST, and an unreadable file; otherwise the errors of every call.
    @concurrent @discardableResult
    public func upload(
        _ body: EndpointBody, method: ServiceMethod = .create, id: (any ServiceIDConvertible & Sendable)? = nil,
        query: Query<Model> = Query(),
        params: Params = Params(), progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Model {
        let json = try await uploaded(body, method, try id?.serviceID, query, params, progress).result
        return try decodeResult(json, of: method, params)
    }

    private func uploaded(
        _ body: EndpointBody, _ method: ServiceMethod, _ id: ServiceID?, _ query: Query<Model>, _ params: Params,
        _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> ServiceResponse {
        switch method {
        case .find, .get, .remove: throw FeathersError.refused("'\(method)' on service '\(path)' has no body to upload")
        default: break
        }
        guard let transport = await registered.transport else {
            throw FeathersError.refused(
                "Service '\(path)' belongs to the app, and only services of a server take uploads")
        }
        guard transport.component(RESTTransport.self) != nil else {
            throw FeathersError.refused(
                "Uploads to service '\(path)' go over HTTP, and its transport neither is nor contains REST: "
                    + "use '.mixed(realTime:rest:)'")
        }
        var request = try addressedRequest(method, id: id, data: nil, query: query, params: params)
        request.params.uploadContent = Upload(body: body, codec: codec(for: params), progress: progress)
        request.params.travelsByHTTP = true
        return try await respond(to: request)
    }
}

/// The body of an upload, and the receiver of its progress.
struct Upload: ParamsKey, Sendable {
    typealias Value = Upload

    let body: EndpointBody
    let codec: any JSONCodec
    let progress: (@Sendable (TransferProgress) -> Void)?

    /// Returns the request with the body and its content type, unless the call's header fields contain one.
    func transfer(of request: HTTPRequest, stallTimeout: Duration?) throws -> HTTPTransfer {
        let (content, type): (HTTPBody, HTTPContentType) =
            switch body.content {
            case .other(let make): try make()
            case .json(let encode): (HTTPBody(try encode(codec).serialized()), .json)
            }
        var request = request
        if request.headers["Content-Type"] == nil { try request.headers.set("Content-Type", to: type.rawValue) }
        // The duration of a transfer is unknown, so the transport's timeout limits how long no data may move.
        return HTTPTransfer(request, body: content, stallTimeout: stallTimeout, progress: progress)
    }
}

extension Params {
    /// The body of an upload; nil for other calls.
    var uploadContent: Upload? {
        get { self[Upload.self] }
        set { self[Upload.self] = newValue }
    }
}
