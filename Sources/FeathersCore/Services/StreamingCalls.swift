import FeathersSupport

extension Service {
    /// Calls a method whose result arrives record by record, and returns the records.
    ///
    /// Experimental: streamed results are new in FeathersJS 6.
    ///
    /// ```swift
    /// for try await token in chat.stream(.create, with: ["prompt": "Hi"], as: Token.self) {
    ///     text += token.text
    /// }
    /// ```
    /// The call begins with the first read, and is a call like any other: hooks run before its first item and after its
    /// last. They do not see the items. A slow reader slows the server down. Cancelling the reader, or dropping the
    /// stream, ends the request. Create one stream for each reader.
    ///
    /// A failure before the first item throws the server's error. A lost connection always throws. But if the server
    /// fails between two items, FeathersJS 6 ends the stream as if it were complete. To find out, let the service mark
    /// its last item, and pass `endingWith`.
    ///
    /// A result that the service does not stream becomes a stream too: the elements of an array, or the value itself.
    /// Root keys are not applied.
    /// - Parameters:
    ///   - method: Any method, including custom ones.
    ///   - id: The record's id, for the methods that have one. `get`, `update`, `patch` and `remove` need it.
    ///   - data: The payload, for the methods that have one.
    ///   - query: The query, which joins that of the params.
    ///   - params: The other parameters. The timeout, or the transport's, limits the wait for the response and for each
    ///     item.
    ///   - isLast: Returns whether an item is the last one of a complete result. If the stream ends without such an
    ///     item, it throws.
    public func stream(
        _ method: ServiceMethod, id: (any ServiceIDConvertible & Sendable)? = nil, with data: JSONValue? = nil,
        query: Query<Model> = Query(), params: Params = Params(),
        endingWith isLast: (@Sendable (Model) -> Bool)? = nil
    ) -> AsyncThrowingStream<Model, any Error> {
        stream(method, id: id, with: data, query: query, params: params, as: Model.self, endingWith: isLast)
    }

    /// Calls a method with an encodable value, and returns the records of its streamed result; see
    /// ``stream(_:id:with:query:params:endingWith:)-(_,_,JSONValue?,_,_,_)``.
    @_disfavoredOverload
    public func stream(
        _ method: ServiceMethod, id: (any ServiceIDConvertible & Sendable)? = nil, with data: any Encodable & Sendable,
        query: Query<Model> = Query(), params: Params = Params(),
        endingWith isLast: (@Sendable (Model) -> Bool)? = nil
    ) -> AsyncThrowingStream<Model, any Error> {
        stream(method, id: id, with: data, query: query, params: params, as: Model.self, endingWith: isLast)
    }

    /// Calls a method whose result arrives item by item, and returns the items as another type; see
    /// ``stream(_:id:with:query:params:endingWith:)-(_,_,JSONValue?,_,_,_)``.
    public func stream<Item: Decodable & Sendable>(
        _ method: ServiceMethod, id: (any ServiceIDConvertible & Sendable)? = nil, with data: JSONValue? = nil,
        query: Query<Model> = Query(), params: Params = Params(), as item: Item.Type,
        endingWith isLast: (@Sendable (Item) -> Bool)? = nil
    ) -> AsyncThrowingStream<Item, any Error> {
        items(
            of: method,
            try addressedRequest(method, id: id?.serviceID, data: data, query: query, params: params), isLast, params)
    }

    /// Calls a method with an encodable value, and returns the items of its streamed result as another type; see
    /// ``stream(_:id:with:query:params:endingWith:)-(_,_,JSONValue?,_,_,_)``.
    @_disfavoredOverload
    public func stream<Item: Decodable & Sendable>(
        _ method: ServiceMethod, id: (any ServiceIDConvertible & Sendable)? = nil, with data: any Encodable & Sendable,
        query: Query<Model> = Query(), params: Params = Params(), as item: Item.Type,
        endingWith isLast: (@Sendable (Item) -> Bool)? = nil
    ) -> AsyncThrowingStream<Item, any Error> {
        items(
            of: method,
            try addressedRequest(
                method, id: id?.serviceID, data: encoded(data, params), query: query, params: params),
            isLast, params)
    }

    private func items<Item: Decodable & Sendable>(
        of method: ServiceMethod, _ request: @autoclosure @escaping @Sendable () throws -> ServiceRequest,
        _ isLast: (@Sendable (Item) -> Bool)?, _ params: Params
    ) -> AsyncThrowingStream<Item, any Error> {
        let codec = codec(for: params)
        return items(try request(), isLast) { (json: consuming JSONValue) in
            if Item.self == JSONValue.self { return identity(json, as: Item.self) }
            return try codec.decodeItem(json, of: method, path)
        }
    }

    /// Returns the items of a streamed call.
    /// - Parameter request: Creates the request when the stream is first read.
    private func items<Item: Sendable>(
        _ request: @autoclosure @escaping @Sendable () throws -> ServiceRequest, _ isLast: (@Sendable (Item) -> Bool)?,
        _ decode: @escaping @Sendable (consuming JSONValue) throws -> Item
    ) -> AsyncThrowingStream<Item, any Error> {
        let scope = UserScope.current
        let call = StreamedCall { channel in
            var request = try request()
            request.streamsResult = true
            return try await UserScope.run(in: scope) { [request] in
                try await executeStream(request, into: channel)
            }
        }
        guard let isLast else {
            return AsyncThrowingStream {
                // Most items of a burst need no wait, and an asynchronous call costs as much as everything else that is
                // done for an item.
                if let item = try call.nextOfBatch() { return try decode(item) }
                return try await call.next().map(decode)
            }
        }
        let isComplete = Locked(false)
        return AsyncThrowingStream {
            guard let item = try await call.next().map(decode) else {
                if isComplete.withLock({ $0 }) { return nil }
                throw FeathersError.incompleteStream
            }
            if isLast(item) { isComplete.withLock { $0 = true } }
            return item
        }
    }
}

extension JSONCodec {
    /// - Throws: ``FeathersError`` that names the property, the method and the service.
    fileprivate func decodeItem<Item: Decodable>(_ json: JSONValue, of method: ServiceMethod, _ path: String) throws
        -> Item
    {
        do {
            return try decode(Item.self, from: json)
        } catch let error as FeathersError {
            throw error
        } catch {
            throw FeathersError.undecodable("An item of '\(method)' on service '\(path)'", as: Item.self, error)
        }
    }
}
