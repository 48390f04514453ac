extension Query {
    /// The query as the part of a URL after `?`, byte for byte as Feathers' JavaScript client writes it with `qs`.
    ///
    /// An empty query gives an empty string. Over this way a server gets every value as a string, null as an empty one.
    ///
    /// - Parameter options: The array format and the limits of the server's parser.
    /// - Throws: ``FeathersError/Code/badRequest``, never sent, where the query cannot be written without losing a
    ///   condition: an empty array or object (`qs` leaves it out, so that `{$in: []}` would match everything), and
    ///   whatever exceeds the limits in `options`. The message names the property.
    public func queryString(_ options: QueryStringOptions = QueryStringOptions()) throws(FeathersError) -> String {
        var encoder = QueryStringEncoder(options: options)
        try encoder.append(json)
        return String(decoding: encoder.bytes, as: UTF8.self)
    }
}
