/// The response to a call: the result and typed metadata.
///
/// ```swift
/// struct LoggingTransport: CompositeTransport {
///     let inner: any Transport
///     var components: [any Transport] { [inner] }
///
///     func send(_ request: ServiceRequest) async throws -> ServiceResponse {
///         let response = try await inner.send(request)
///         print("\(request.method) \(request.path): \(response.result)")
///         return response
///     }
/// }
/// ```
public struct ServiceResponse: Sendable {
    private struct Entry: Sendable {
        let key: ObjectIdentifier
        let value: any Sendable
    }

    private struct DeferredValue<Value>: Sendable {
        let make: @Sendable () -> Value
    }

    private var body: JSONBody
    /// A short array with linear search: most responses have no metadata, the others one or two values.
    private var metadata: [Entry]?

    /// Creates a response without metadata.
    public init(_ result: JSONValue) {
        body = .tree(result)
    }

    /// Creates a response from JSON text.
    /// - Parameters:
    ///   - text: the whole text in UTF-8.
    ///   - keepsText: whether to keep the text for a caller that decodes a model from it.
    /// - Throws: `JSONParsingError` if the bytes are not valid JSON.
    package init(parsing text: [UInt8], keepsText: Bool) throws(JSONParsingError) {
        body = try text.withUnsafeBufferPointer { text throws(JSONParsingError) in try JSONBody(parsing: text, keepsText: keepsText) }
    }

    /// Creates a response whose result is made when something reads it.
    package init(_ result: some DeferredResult) {
        body = .deferred(result)
    }

    /// The result as its transport keeps it; nil if it is JSON, also because a hook has set it.
    package var deferredResult: (any DeferredResult)? { if case .deferred(let result) = body { result } else { nil } }

    /// The result. A text body is parsed on first access.
    public var result: JSONValue {
        get { body.json }
        _modify {
            // Moved out, so that modifying it in place copies nothing.
            var value = result
            body = .tree(.null)
            defer { body = .tree(value) }
            yield &value
        }
        set { body = .tree(newValue) }
    }

    /// Decodes the result.
    /// - Parameters:
    ///   - type: the type of the model.
    ///   - coding: the codec between JSON and models.
    /// - Throws: `DecodingError`, and any error of the model's own `init(from:)`.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self, coding: any JSONCodec = CodingOptions()) throws -> Model {
        try decode(type, at: [], coding)
    }

    /// A value that transports and middleware return in addition to the result.
    public subscript<Key: ResponseKey>(key: Key.Type) -> Key.Value? {
        get {
            guard let metadata else { return nil }
            let key = ObjectIdentifier(key)
            for entry in metadata where entry.key == key {
                return entry.value as? Key.Value ?? (entry.value as? DeferredValue<Key.Value>)?.make()
            }
            return nil
        }
        set {
            let key = ObjectIdentifier(key)
            var entries = metadata ?? []
            entries.removeAll { $0.key == key }
            if let newValue { entries.append(Entry(key: key, value: newValue)) }
            metadata = entries.isEmpty ? nil : entries
        }
    }

    /// Sets a value that is made when something reads it.
    package mutating func set<Key: ResponseKey>(_ key: Key.Type, _ make: @escaping @Sendable () -> Key.Value) {
        self[key] = nil
        metadata = (metadata ?? []) + [Entry(key: ObjectIdentifier(key), value: DeferredValue(make: make))]
    }
}

/// The key of a typed value in a ``ServiceResponse``.
///
/// ```swift
/// enum Region: ResponseKey { typealias Value = String }
/// response[Region.self] = "eu-north-1"
/// ```
public protocol ResponseKey {
    /// The type of the value.
    associatedtype Value: Sendable
}

extension ServiceResponse {
    /// Whether the body is text, not a tree.
    var isText: Bool { if case .tape = body { true } else { false } }

    /// Whether the body is text whose tree was never accessed.
    var isUnreadText: Bool { if case .tape(let tape) = body { !tape.hasTree } else { false } }

    /// Whether the result is a stream. Most responses have no metadata, so this costs nothing.
    var isStream: Bool { metadata != nil && self[ResultStream.self] != nil }

    /// Decodes the value at a path of root keys.
    /// - Throws: ``MissingRootKey``, and the errors of the codec.
    package func decode<Model: Decodable>(_ type: Model.Type, at rootKeys: [RootKey], _ codec: any JSONCodec) throws -> Model {
        if rootKeys.isEmpty { return try body.decode(type, codec) }
        return try codec.decode(type, from: result.unwrapped(by: rootKeys))
    }

    /// Decodes a result of `find` record by record.
    /// - Throws: ``FeathersError`` if the result is neither an array nor a page, ``UndecodableRecord`` with the error of the codec.
    package func decodePage<Model: Decodable & Sendable>(
        of type: Model.Type, at rootKeys: [RootKey], _ codec: any JSONCodec
    ) throws -> Paginated<Model> {
        var index = 0
        func read(_ json: () -> JSONValue, _ decode: () throws -> Model) throws -> Model {
            defer { index += 1 }
            do { return try decode() } catch { throw UndecodableRecord(index: index, json(), error) }
        }
        guard let options = codec as? CodingOptions else {
            return try Paginated(json: result.unwrapped(by: rootKeys)).map { json in
                try read({ json }, { try codec.decode(type, from: json) })
            }
        }
        // One decoder for the whole list, because it remembers the layout of similar records.
        if rootKeys.isEmpty, case .tape(let tape) = body {
            let decoder = JSONListDecoder(options, text: tape)
            return try withExtendedLifetime(tape) {
                try Paginated(source: .text(tape.root)) { record in
                    try read({ record.json }, { try decoder.decode(type, from: record) })
                }
            }
        }
        let decoder = JSONListDecoder(options)
        return try Paginated(json: result.unwrapped(by: rootKeys)).map { json in
            try read({ json }, { try decoder.decode(type, from: json) })
        }
    }
}

/// The user whose token the request carried. Set by the sign-in gate.
package enum SentAs: ResponseKey {
    package typealias Value = RequestSender
}

/// The tag with which the server can tell whether this response is still current (HTTP's `ETag`).
package enum EntityTag: ResponseKey {
    package typealias Value = String
}

/// Whether the server reported that the caller's ``HeldResponse`` is still current (HTTP's 304).
package enum NotModified: ResponseKey {
    package typealias Value = Bool
}

/// Whether a call with ``Params/concernsConnection`` was sent over another transport, so that the connection is unaware of it.
package enum WentBesideConnection: ResponseKey {
    package typealias Value = Bool
}
