import Foundation
import Synchronization

// What the adaptors in the article about diagnostics need of packages this one does not depend on, as narrow as those
// packages declare it.

/// Of swift-log.
nonisolated struct Logger: Sendable {
    enum Level: Sendable { case trace, debug, info, notice, warning, error, critical }
    enum MetadataValue: Sendable { case string(String) }
    typealias Metadata = [String: MetadataValue]
    struct Message: Sendable, ExpressibleByStringInterpolation {
        let text: String
        init(stringLiteral value: String) { text = value }
    }

    let write: @Sendable (Level, String, Metadata, String) -> Void

    func log(level: Level, _ message: @autoclosure () -> Message, metadata: Metadata?, source: String?) {
        write(level, message().text, metadata ?? [:], source ?? "")
    }
}

/// Of swift-metrics.
nonisolated final class Timer: Sendable {
    static let recorded = Mutex<[String]>([])
    private let name: String

    init(label: String, dimensions: [(String, String)]) {
        name = ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " ")
    }

    func record(duration: Duration) { Self.recorded.withLock { $0.append(name) } }
}

/// Of swift-distributed-tracing.
nonisolated final class Span {
    let context: String
    var attributes: [String: any Sendable] = [:]

    init(context: String) { self.context = context }
}

nonisolated enum SpanKind { case client }

nonisolated protocol Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String])
}

nonisolated struct StandInInstrument: Sendable {
    func inject(_ context: String, into carrier: inout [String: String], using injector: some Injector) {
        injector.inject(context, forKey: "traceparent", into: &carrier)
    }
}

nonisolated enum InstrumentationSystem {
    static let instrument = StandInInstrument()
}

nonisolated func withSpan<Result>(
    _ name: String, ofKind kind: SpanKind, _ body: (Span) async throws -> Result
) async throws
    -> Result
{
    try await body(Span(context: "00-span-of-\(name)"))
}

/// A request that a server has received.
nonisolated struct IncomingRequest {
    let headers: [String: String]
}
