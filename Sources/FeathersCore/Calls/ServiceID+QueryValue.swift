extension ServiceID: QueryValue {
    public var queryValue: JSONValue { json }
}
