extension Hooks {
    /// Checks the data of calls before they run.
    ///
    /// ```swift
    /// await messages.use(hooks: .validating(.create) { data in
    ///     guard data["text"]?.string?.isEmpty == false else { throw FeathersError(.badRequest, "A message needs text") }
    /// })
    /// ```
    /// Of several records created at once, each is checked.
    /// - Parameters:
    ///   - scopes: the methods whose data is checked.
    ///   - check: throws what is wrong with one record.
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

    /// Sets a property of the data before a call runs; of several records created at once, in each.
    /// - Parameters:
    ///   - property: the property's name.
    ///   - scopes: the methods whose data is changed.
    ///   - value: makes the value, once for each record.
    public static func setting(
        _ property: String, on scopes: HookScope..., to value: @escaping @Sendable (HookContext) async throws -> JSONValue
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
    /// Reports every call to a sink: once, when it ended, with its duration and outcome.
    ///
    /// It is the outermost of all hooks, wherever it was registered: what is reported is what the caller sees. Calls that succeed or are
    /// cancelled are ``DiagnosticLevel/info``, those a server refused ``DiagnosticLevel/warning``, other failures
    /// ``DiagnosticLevel/error``. A retry is a ``DiagnosticLevel/notice``, the start of a call a ``DiagnosticLevel/trace``.
    /// - Parameters:
    ///   - levels: what the sink wants; the rest costs next to nothing.
    ///   - redaction: what is removed from reports.
    ///   - verbosity: whether payloads and header fields are reported too.
    ///   - sink: what receives the events.
    public static func logging(
        levels: DiagnosticLevels = DiagnosticLevels(.info), redaction: Redaction = Redaction(), verbosity: DiagnosticVerbosity = .brief,
        to sink: any DiagnosticSink
    ) -> Hooks {
        var hooks = Hooks()
        let detail = DiagnosticDetail(redaction: redaction, verbosity: verbosity)
        hooks.diagnostics = Diagnostics(Diagnostics.Outlet(sink: sink, levels: levels, detail: detail))
        return hooks
    }

    /// Reports every call to a closure, as ``logging(levels:redaction:verbosity:to:)`` does to a sink.
    public static func logging(_ receive: @escaping @Sendable (DiagnosticEvent) -> Void) -> Hooks { logging(to: .closure(receive)) }

    /// Gives calls up that take too long.
    ///
    /// The deadline covers everything inside it: the hooks of its level and of the levels within, and the method. The call is cancelled
    /// and awaited, so one that ignores cancellation is still waited for.
    /// - Parameters:
    ///   - duration: how long a call may take.
    ///   - scope: the methods it is meant for.
    public static func timeout(_ duration: Duration, for scope: HookScope = .all) -> Hooks {
        timeout(duration, for: scope, clock: ContinuousClock())
    }

    package static func timeout(_ duration: Duration, for scope: HookScope = .all, clock: any Clock<Duration>) -> Hooks {
        var hooks = Hooks()
        hooks.deadlines[scope] = [{ context, next in try await next.run(within: duration, on: clock, &context) }]
        return hooks
    }
}

extension NextHook {
    /// Runs a call in a child task, which is cancelled and awaited when its time is over: one that ignores cancellation is waited for.
    fileprivate func run(within limit: Duration, on clock: any Clock<Duration>, _ context: inout HookContext) async throws {
        let start = context
        context = try await withThrowingTaskGroup(of: HookContext?.self) { group in
            group.addTask {
                var context = start
                try await self(&context)
                return context
            }
            group.addTask {
                try await clock.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard case let finished?? = try await group.next() else {
                throw FeathersError(
                    .timeout, "'\(start.method)' on service '\(start.path)' took longer than \(limit)", execution: .mayHaveExecuted)
            }
            return finished
        }
    }
}
