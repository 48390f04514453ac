extension Query where Model == JSONValue {
    /// Returns the query as the part of a URL after `?`, byte for byte as Feathers' JavaScript client writes it with
    /// `qs`.
    ///
    /// An empty query returns an empty string. A server receives every value in a query string as a string, and null as
    /// an empty string. Without query schemas, a condition on a number, a boolean or null therefore matches nothing.
    ///
    /// - Parameter options: The array format and the limits of the server's parser.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the query string would lose a
    ///   condition: for an empty array or object (`qs` omits it, so that `{$in: []}` would match everything), and for
    ///   anything that exceeds the limits in `options`. The message names the property.
    public func queryString(_ options: QueryStringOptions = QueryStringOptions()) throws(FeathersError) -> String {
        var encoder = QueryStringEncoder(options: options)
        try encoder.append(json)
        return String(decoding: encoder.bytes, as: UTF8.self)
    }
}

/// The format of query strings, and the limits of the server's parser.
///
/// FeathersJS servers parse query strings with `qs`, which silently changes anything that exceeds its limits. The
/// limits are therefore checked before anything is sent. The defaults are those of `qs` itself, which every FeathersJS
/// server reads. Set nil to remove a limit.
public struct QueryStringOptions: Sendable, Hashable {
    /// The format of arrays of plain values.
    public enum ArrayFormat: Sendable, Hashable {
        /// `n[$in][0]=1&n[$in][1]=2`: the format of Feathers' own client.
        case indices
        /// `n[$in][]=1&n[$in][]=2`. Arrays of objects keep their indices, because servers merge `$or[][a]` and
        /// `$or[][b]` into one object.
        ///
        /// `qs` 6.14.1 and later counts these elements too, so `arrayLimit` applies to both formats.
        case brackets
    }

    let arrayFormat: ArrayFormat
    /// The maximum number of elements in an array; nil for no limit.
    package let arrayLimit: Int?
    let depthLimit: Int?
    let pairLimit: Int?
    /// Whether the server converts strings in a query string back to numbers, booleans and null.
    package let serverParsesTypes: Bool

    /// Creates options. The defaults are the limits of `qs`.
    ///
    /// - Parameters:
    ///   - arrayFormat: The format of arrays of plain values.
    ///   - arrayLimit: The maximum number of elements in an array, such as that of `$in`, `$nin`, `$or`, `$and` or
    ///     `$select`. `qs` turns a longer array into an object, so that `$in` matches nothing and `$nin` everything.
    ///     Set it to the server's own `arrayLimit` if that reads more, as current versions of Express do (1000).
    ///   - depthLimit: The maximum number of levels below a property's first. Array indices count:
    ///     `$or[0][address][city]` has three.
    ///   - pairLimit: The maximum number of `key=value` pairs. `qs` ignores additional pairs.
    ///   - serverParsesTypes: Whether the server converts strings in a query string back to numbers, booleans and null,
    ///     for example with query schemas. If not, `RESTTransport` reports the first query of each service that
    ///     compares with such a value.
    public init(
        arrayFormat: ArrayFormat = .indices, arrayLimit: Int? = 20, depthLimit: Int? = 5, pairLimit: Int? = 1000,
        serverParsesTypes: Bool = false
    ) {
        self.arrayFormat = arrayFormat
        self.arrayLimit = arrayLimit
        self.depthLimit = depthLimit
        self.pairLimit = pairLimit
        self.serverParsesTypes = serverParsesTypes
    }
}

/// The cause of the error for a query that a query string cannot carry, or that exceeds the limits of the server's
/// parser. A connection can carry it.
package struct QueryStringRefusal: Error {}
