public import FeathersNetworking

extension StubHost where Request == HTTPRequest, Response == HTTPResponse {
    /// Answers requests with a stub.
    /// - Parameters:
    ///   - location: a path (`/messages`) or a URL (`https://api.example.com/messages`), percent-encoded, of every query unless it has one.
    ///   - method: the HTTP method it answers, `GET`; nil for every method that has no stub of its own.
    ///   - stub: what answers.
    @discardableResult
    public func stub(_ location: String, _ method: String? = nil, with stub: HTTPStub) -> StubRegistration {
        book.change { $0.add(stub, for: .requests(to: location, method)) }
    }

    /// Answers the requests of a method with a stub, wherever they go.
    @discardableResult
    public func stub(method: String, with stub: HTTPStub) -> StubRegistration {
        book.change { $0.add(stub, for: .requests(to: nil, method)) }
    }

    /// Takes back the stub that was registered for exactly this.
    public func removeStub(_ location: String, _ method: String? = nil) {
        book.change { $0.remove(StubSelector<HTTPRequest>.identity(of: location, method)) }
    }

    /// The requests to a place that have come so far.
    /// - Parameters:
    ///   - location: a path or a URL, as stubs are registered for.
    ///   - method: the HTTP method that counts; nil for all.
    public func calls(to location: String, _ method: String? = nil) -> [RecordedCall<HTTPRequest, HTTPResponse>] {
        let selector = StubSelector<HTTPRequest>.requests(to: location, method)
        return book.calls.filter { selector.matches($0.request) }
    }
}
