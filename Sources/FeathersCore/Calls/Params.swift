/// What a call carries besides its id and data: Feathers' `params`.
///
/// Only ``query`` reaches every server, ``headers`` only over REST, ``route`` fills the placeholders of the
/// service's path. Everything else stays in the process, for hooks and local services.
public struct Params: Sendable {
    /// Most calls carry nothing, so that is what costs nothing: no storage, no reference to count.
    private var storage: Storage?

    /// Creates params. Everything that is left out is empty.
    public init(
        query: Query = Query(),
        headers: [String: String] = [:],
        route: [String: String] = [:],
        timeout: Duration? = nil
    ) {
        if query.isEmpty, headers.isEmpty, route.isEmpty, timeout == nil { return }
        storage = Storage(Contents(query: query, headers: headers, route: route, timeout: timeout))
    }

    /// The query, sent to the server.
    public var query: Query {
        get { storage?.contents.query ?? Query() }
        _modify { yield &contents.query }
    }

    /// Additional HTTP header fields. They win over the transport's own (REST only).
    public var headers: [String: String] {
        get { storage?.contents.headers ?? [:] }
        _modify { yield &contents.headers }
    }

    /// Values for the `:placeholders` of the service's path, percent-encoded by the transport.
    public var route: [String: String] {
        get { storage?.contents.route ?? [:] }
        _modify { yield &contents.route }
    }

    /// How long the call may take, in place of the transport's default.
    public var timeout: Duration? {
        get { storage?.contents.timeout }
        _modify { yield &contents.timeout }
    }

    /// A value that hooks and local services pass to each other and that is never sent.
    public subscript<Key: ParamsKey>(key: Key.Type) -> Key.Value? {
        get { storage?.contents.values[ObjectIdentifier(key)] as? Key.Value }
        set { contents.values[ObjectIdentifier(key)] = newValue }
    }
}

/// The key of a typed, process-local value in ``Params``.
///
/// ```swift
/// enum CurrentUser: ParamsKey { typealias Value = User }
/// context.params[CurrentUser.self] = user
/// ```
public protocol ParamsKey {
    /// What is kept under the key.
    associatedtype Value: Sendable
}

extension Params {
    fileprivate struct Contents: Sendable {
        var query = Query()
        var headers: [String: String] = [:]
        var route: [String: String] = [:]
        var timeout: Duration?
        var values: [ObjectIdentifier: any Sendable] = [:]
    }

    // `contents` is changed only while one Params alone holds the storage, which `isKnownUniquelyReferenced` establishes before every
    // change; storage that two values share is never written. So no two tasks ever write, or read while one writes.
    fileprivate final class Storage: @unchecked Sendable {
        var contents: Contents

        init(_ contents: Contents) {
            self.contents = contents
        }
    }

    private var contents: Contents {
        get { storage?.contents ?? Contents() }
        _modify {
            if storage == nil {
                storage = Storage(Contents())
            } else if !isKnownUniquelyReferenced(&storage) {
                storage = storage.map { Storage($0.contents) }
            }
            let unique = storage.unsafelyUnwrapped
            yield &unique.contents
        }
    }
}
