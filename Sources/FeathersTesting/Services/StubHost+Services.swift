public import FeathersCore

extension StubHost where Request == ServiceRequest, Response == JSONValue {
    /// Answers the calls of a service with a stub.
    /// - Parameters:
    ///   - path: the service's path, placeholders unfilled; slashes at both ends do not count.
    ///   - method: the method it answers; nil for every method that has no stub of its own.
    ///   - stub: what answers.
    @discardableResult
    public func stub(_ path: String, _ method: ServiceMethod? = nil, with stub: ServiceStub) -> StubRegistration {
        book.change { $0.add(stub, for: .calls(of: FeathersApp.stripSlashes(path), method)) }
    }

    /// Answers the calls of a method with a stub, whatever the service.
    @discardableResult
    public func stub(_ method: ServiceMethod, with stub: ServiceStub) -> StubRegistration {
        book.change { $0.add(stub, for: .calls(of: nil, method)) }
    }

    /// Takes back the stub that was registered for exactly this.
    public func removeStub(_ path: String, _ method: ServiceMethod? = nil) {
        book.change { $0.remove(StubSelector<ServiceRequest>.identity(of: FeathersApp.stripSlashes(path), method)) }
    }

    /// The calls of a service that have come so far.
    /// - Parameters:
    ///   - path: the service's path, placeholders unfilled; slashes at both ends do not count.
    ///   - method: the method that counts; nil for all.
    public func calls(of path: String, _ method: ServiceMethod? = nil) -> [RecordedCall<ServiceRequest, JSONValue>] {
        let selector = StubSelector<ServiceRequest>.calls(of: FeathersApp.stripSlashes(path), method)
        return book.calls.filter { selector.matches($0.request) }
    }
}
