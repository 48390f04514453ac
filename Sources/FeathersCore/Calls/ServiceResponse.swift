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

    private enum Body {
        case value(JSONValue)
        /// In a format of the transport.
        case deferred(any DeferredResult)
    }

    private var resultBody: Body
    /// A short array with linear search: most responses have no metadata, the others one or two values.
    private var metadataEntries: [Entry]?

    /// Creates a response without metadata.
    public init(_ result: JSONValue) {
        resultBody = .value(result)
    }

    /// Creates a response whose result is made when something reads it.
    package init(_ result: some DeferredResult) {
        resultBody = .deferred(result)
    }

    /// The result in the format of its transport; nil if it is JSON, for example because a hook has set it.
    package var deferredResult: (any DeferredResult)? {
        if case .deferred(let result) = resultBody { result } else { nil }
    }

    /// The result.
    public var result: JSONValue {
        get {
            switch resultBody {
            case .value(let value): value
            case .deferred(let result): result.json
            }
        }
        _modify {
            // Moved out, so that modifying it in place copies nothing.
            var value = result
            resultBody = .value(.null)
            defer { resultBody = .value(value) }
            yield &value
        }
        set { resultBody = .value(newValue) }
    }

    /// Decodes the result.
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - coding: The codec between JSON and models.
    /// - Throws: `DecodingError`, and any error of the model's own `init(from:)`.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self, coding: any JSONCodec = CodingOptions())
        throws -> Model
    {
        try decode(type, at: [], coding)
    }

    /// A value that transports and middleware return in addition to the result.
    public subscript<Key: ResponseKey>(key: Key.Type) -> Key.Value? {
        get {
            guard let metadataEntries else { return nil }
            let key = ObjectIdentifier(key)
            for entry in metadataEntries where entry.key == key {
                return entry.value as? Key.Value ?? (entry.value as? DeferredValue<Key.Value>)?.make()
            }
            return nil
        }
        set {
            let key = ObjectIdentifier(key)
            var entries = metadataEntries ?? []
            entries.removeAll { $0.key == key }
            if let newValue { entries.append(Entry(key: key, value: newValue)) }
            metadataEntries = entries.isEmpty ? nil : entries
        }
    }

    /// Sets a value that is made when something reads it.
    package mutating func set<Key: ResponseKey>(_ key: Key.Type, _ make: @escaping @Sendable () -> Key.Value) {
        self[key] = nil
        metadataEntries =
            (metadataEntries ?? []) + [Entry(key: ObjectIdentifier(key), value: DeferredValue(make: make))]
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
    /// Whether the result is a stream. Most responses have no metadata, so this costs nothing.
    var isStream: Bool { metadataEntries != nil && self[ResultStream.self] != nil }

    /// Decodes the value at a path of root keys.
    /// - Throws: ``MissingRootKey``, and the errors of the codec.
    package func decode<Model: Decodable>(_ type: Model.Type, at rootKeys: [RootKey], _ codec: any JSONCodec) throws
        -> Model
    {
        try codec.decode(type, from: result.unwrapped(by: rootKeys))
    }

    /// Decodes a result of `find` record by record.
    /// - Throws: ``FeathersError`` if the result is neither an array nor a page, ``UndecodableRecord`` with the error
    ///   of the codec.
    package func decodePage<Model: Decodable & Sendable>(
        of type: Model.Type, at rootKeys: [RootKey], _ codec: any JSONCodec, of method: ServiceMethod
    ) throws -> Page<Model> {
        // One decoder for the whole list, because it remembers the layout of similar records.
        let decoder = (codec as? CodingOptions).map { JSONListDecoder($0) }
        var index = 0
        return try Page(json: result.unwrapped(by: rootKeys), of: method).map { json in
            defer { index += 1 }
            do {
                return try decoder?.decode(type, from: json) ?? codec.decode(type, from: json)
            } catch {
                throw UndecodableRecord(index: index, json, error)
            }
        }
    }
}

/// A result in a format of its transport, from which a caller can decode models directly.
///
/// It is a class, so that it does not make every response larger.
package protocol DeferredResult: AnyObject, Sendable {
    /// The result as JSON, created on first access.
    var json: JSONValue { get }
}

/// The user whose token the request carried. Set by the sign-in gate.
package enum SentAs: ResponseKey {
    package typealias Value = RequestSender
}

/// The tag with which the server can tell whether this response is still current (HTTP's `ETag`).
package enum EntityTag: ResponseKey {
    package typealias Value = String

    /// Returns the value of an `ETag` field if it is one tag that a later request can send back; otherwise nil.
    ///
    /// A tag of more than 1 KB, or with a control character, would only make that request fail, and `*` or a list of
    /// tags would be another condition (RFC 9110, sections 8.8.3 and 13.1.1).
    package static func checked(_ field: String?) -> String? {
        guard let field, field.utf8.count <= 1024, field.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return nil
        }
        let tag = field.utf8.starts(with: "W/".utf8) ? field.utf8.dropFirst(2) : field.utf8[...]
        let quote = UInt8(ascii: "\"")
        if tag.first == quote {
            return tag.count > 1 && tag.last == quote && !tag.dropFirst().dropLast().contains(quote) ? field : nil
        }
        // Some servers omit the quotes.
        let isOne = !tag.isEmpty && !tag.elementsEqual("*".utf8) && !tag.contains { " ,\"".utf8.contains($0) }
        return isOne ? field : nil
    }
}

/// Whether the server reported that the caller's ``HeldResponse`` is still current (HTTP's 304).
package enum NotModified: ResponseKey {
    package typealias Value = Bool
}

/// Whether a call with ``Params/concernsConnection`` was sent over another transport, so that the connection is unaware
/// of it.
package enum WentBesideConnection: ResponseKey {
    package typealias Value = Bool
}

/// Whether the query was sent as text, which a server without query schemas does not find equal to a number.
package enum SentQueryAsText: ResponseKey {
    package typealias Value = Bool
}

/// The query of a read when its method ran, and the method's result. Set for ``Params/readsFromServer`` if hooks ran,
/// so that the caller can find out what they have changed.
package struct AtMethod: ResponseKey, Sendable {
    package typealias Value = AtMethod

    /// Nil if a hook has responded instead of the method.
    package let query: Query<JSONValue>?
    package let result: JSONValue
}
