/// One service call as a value: what every transport and every local service receives.
public struct ServiceRequest: Sendable {
    /// The service's path without leading and trailing slashes, placeholders (`:userId`) unfilled.
    public var path: String

    public var method: ServiceMethod

    /// The record's id. For `update`, `patch` and `remove`, nil is Feathers' null id: every record that matches the query.
    public var id: ServiceID?

    /// The payload of `create`, `update`, `patch` and custom methods.
    public var data: JSONValue?

    public var params: Params

    public init(path: String, method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, params: Params = Params()) {
        self.path = path
        self.method = method
        self.id = id
        self.data = data
        self.params = params
    }
}
