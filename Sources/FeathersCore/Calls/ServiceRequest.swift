/// One service call as a value: what every transport and every local service receives.
public struct ServiceRequest: Sendable {
    /// The service's path without leading and trailing slashes, placeholders (`:userId`) unfilled.
    public var path: String

    /// What is called.
    public var method: ServiceMethod

    /// The record's id. For `update`, `patch` and `remove`, nil is Feathers' null id: every record that matches the query.
    public var id: ServiceID?

    /// The payload of `create`, `update`, `patch` and custom methods.
    public var data: JSONValue?

    /// The query, the header fields, and whatever else goes with the call.
    public var params: Params

    /// Where the result's text may be left, for a caller who wants no tree of it.
    package var resultText: ResultText?

    /// A request; the parameters are the properties of the same names.
    public init(path: String, method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, params: Params = Params()) {
        self.path = path
        self.method = method
        self.id = id
        self.data = data
        self.params = params
    }
}
