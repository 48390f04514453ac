import FeathersSupport

extension Hooks {
    /// Returns hooks that validate the data of calls before they run.
    ///
    /// ```swift
    /// await messages.use(hooks: .validating(.create) { data in
    ///     guard data["text"]?.string?.isEmpty == false else {
    ///         throw FeathersError(.badRequest, "A message needs text")
    ///     }
    /// })
    /// ```
    /// If a call creates several records, each of them is checked.
    /// - Parameters:
    ///   - scopes: The methods whose data to check.
    ///   - check: Throws an error if a record is invalid.
    public static func validating(
        _ scopes: HookScope..., check: @escaping @Sendable (_ data: JSONValue) async throws -> Void
    ) -> Hooks {
        before(scopes) { context in
            switch context.data ?? .null {
            case .array(let records) where context.method == .create:
                for record in records { try await check(record) }
            case let data:
                try await check(data)
            }
        }
    }

    /// Returns hooks that set a property of the data before a call runs. If a call creates several records, each of
    /// them gets a value.
    /// - Parameters:
    ///   - property: The name of the property.
    ///   - scopes: The methods whose data to change.
    ///   - value: Returns the value, once for each record.
    public static func setting(
        _ property: String, on scopes: HookScope...,
        to value: @escaping @Sendable (HookContext) async throws -> JSONValue
    ) -> Hooks {
        before(scopes) { context in
            if case .array(var records)? = context.data, context.method == .create {
                for index in records.indices { records[index][property] = try await value(context) }
                context.data = .array(records)
            } else {
                var data = context.data ?? [:]
                data[property] = try await value(context)
                context.data = data
            }
        }
    }

    private static func before(_ scopes: [HookScope], _ hook: @escaping Hook) -> Hooks {
        var hooks = Hooks()
        for scope in scopes { hooks.before[scope].append(hook) }
        return hooks
    }
}

extension Hooks {
    /// Returns hooks that report every call to a sink when the call ends, with its duration and outcome.
    ///
    /// These hooks are outside all others, regardless of where you register them, so they report what the caller sees.
    /// Calls that succeed or are cancelled have the level ``DiagnosticLevel/info``, calls that a server refuses
    /// ``DiagnosticLevel/warning``, and other failures ``DiagnosticLevel/error``. A retry is a
    /// ``DiagnosticLevel/notice``, the start of a call a ``DiagnosticLevel/trace``.
    /// - Parameters:
    ///   - levels: The levels that the sink receives. Other events cost next to nothing.
    ///   - redaction: The values that are removed from reports.
    ///   - verbosity: Whether reports include payloads and header fields.
    ///   - sink: The receiver of the events.
    public static func logging(
        levels: DiagnosticLevels = DiagnosticLevels(.info), redaction: Redaction = Redaction(),
        verbosity: DiagnosticVerbosity = .brief,
        to sink: any DiagnosticSink
    ) -> Hooks {
        var hooks = Hooks()
        let detail = DiagnosticDetail(redaction: redaction, verbosity: verbosity)
        hooks.diagnostics = Diagnostics(Diagnostics.Outlet(sink: sink, levels: levels, detail: detail))
        return hooks
    }

    /// Returns hooks that report every call to a closure; see ``logging(levels:redaction:verbosity:to:)``.
    public static func logging(_ receive: @escaping @Sendable (DiagnosticEvent) -> Void) -> Hooks {
        logging(to: .closure(receive))
    }

    /// Returns hooks that cancel calls after a deadline.
    ///
    /// The deadline covers the hooks of its level, everything inside them, and the method. The call is cancelled and
    /// awaited, so a call that ignores cancellation still delays the error.
    /// - Parameters:
    ///   - duration: The maximum duration of a call.
    ///   - scope: The methods that have the deadline.
    public static func timeout(_ duration: Duration, for scope: HookScope = .all) -> Hooks {
        timeout(duration, for: scope, clock: ContinuousClock())
    }

    package static func timeout(_ duration: Duration, for scope: HookScope = .all, clock: any Clock<Duration>) -> Hooks
    {
        var hooks = Hooks()
        hooks.deadlines[scope] = [{ context, next in try await next.run(within: duration, on: clock, &context) }]
        return hooks
    }
}

extension NextHook {
    /// Runs a call in a child task, which is cancelled and awaited at the deadline. A call that ignores cancellation is
    /// still awaited.
    fileprivate func run(within limit: Duration, on clock: any Clock<Duration>, _ context: inout HookContext)
        async throws
    {
        let (start, clock) = (context, RelativeClock(clock))
        let deadline = CallDeadline(clock: clock, end: clock.now + limit)
        context = try await clock.run(
            atMost: limit,
            orThrow: FeathersError(
                .timeout, "'\(start.method)' on service '\(start.path)' took longer than \(limit)",
                execution: .mayHaveExecuted)
        ) {
            try await CallDeadline.$passed.withValue(CallDeadline.passed + [deadline]) {
                var context = start
                try await self(&context)
                return context
            }
        }
    }
}

/// The time at which a call is cancelled.
struct CallDeadline: Sendable {
    /// The deadlines of the hooks that this task's call has passed.
    @TaskLocal static var passed: [CallDeadline] = []

    let clock: RelativeClock
    let end: Duration

    /// Whether a cancellation of the present call is due to a deadline.
    static var isOver: Bool { passed.contains { $0.clock.now >= $0.end } }
}
