/// The response of an endpoint whose answer's body is of no interest: it is neither parsed nor decoded.
public struct EmptyResponse: Decodable, Hashable, Sendable {
    /// The only value there is.
    public init() {}

    public init(from decoder: any Decoder) throws {}
}
