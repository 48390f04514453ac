import Feathers
import Metrics
import ServiceLifecycle
import Tracing

/// Exports every counter and gauge of an app every ten seconds.
struct MetricsExport: ServiceLifecycle.Service {
    let app: FeathersApp

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                export()
                try? await Task.sleep(for: .seconds(10))
            }
        }
    }

    func export() {
        for sample in app.metrics.samples {
            Meter(label: sample.name, dimensions: sample.labels).set(sample.value)
        }
    }
}

/// Records how long calls take.
struct CallTimer: DiagnosticSink {
    func receive(_ event: DiagnosticEvent) {
        guard event.domain == .calls, event[.outcome] != nil,
            let duration = event.duration
        else { return }
        let method = "\(event[.path] ?? "")/\(event[.method] ?? "")"
        var dimensions = [("rpc_method", method)]
        if let error = event[.error] { dimensions.append(("error_type", "\(error)")) }
        Timer(label: "rpc_client_call_duration", dimensions: dimensions).record(
            duration: duration)
    }
}

/// Makes each call a span of its request's trace, and sends the trace on to the
/// FeathersJS server.
let tracing: AroundHook = { context, next in
    try await withSpan("feathers.\(context.method)", ofKind: .client) { span in
        span.attributes["rpc.system"] = "feathers"
        span.attributes["rpc.service"] = context.path
        span.attributes["rpc.method"] = context.method.rawValue
        InstrumentationSystem.instrument.inject(
            span.context, into: &context.params.headers, using: HeaderInjector())
        do {
            try await next(&context)
        } catch let error as FeathersError {
            span.attributes["feathers.error.code"] = error.code.rawValue
            throw error
        }
    }
}

struct HeaderInjector: Injector {
    func inject(
        _ value: String, forKey key: String, into headers: inout [String: String]
    ) {
        headers[key] = value
    }
}
