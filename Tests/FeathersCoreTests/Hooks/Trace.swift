import FeathersCore
import Synchronization

/// Writes down what happened, in order.
final class Trace: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) {
        lines.withLock { $0.append(line) }
    }

    /// A hook that writes its name down, then does `action`.
    func hook(_ name: String, _ action: @escaping Hook = { _ in }) -> Hook {
        { context in
            self.add(name)
            try await action(&context)
        }
    }

    /// An around hook that writes its name down on the way in and on the way out.
    func around(_ name: String) -> AroundHook {
        { context, next in
            self.add("\(name)>")
            try await next(&context)
            self.add("<\(name)")
        }
    }

    /// A full set of hooks, one of each type for all methods and for `get`, where those named in `actions` do
    /// something.
    func hooks(_ level: String, _ actions: [String: Hook] = [:]) -> Hooks {
        func make(_ name: String) -> Hook {
            hook("\(level).\(name)", actions["\(level).\(name)"] ?? { _ in })
        }
        return Hooks(
            around: [.all: [around("\(level).around.all")], .get: [around("\(level).around.m")]],
            before: [.all: [make("before.all")], .get: [make("before.m")]],
            after: [.all: [make("after.all")], .get: [make("after.m")]],
            error: [.all: [make("error.all")], .get: [make("error.m")]])
    }
}

/// Writes its method down and answers, or fails when told to.
actor TracedService: ServiceProtocol {
    let trace: Trace
    let failure: FeathersError?

    init(trace: Trace, failure: FeathersError? = nil) { (self.trace, self.failure) = (trace, failure) }

    func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
        trace.add("METHOD")
        if let failure { throw failure }
        return ["id": id.json]
    }

    func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
        trace.add("METHOD")
        return data
    }
}
