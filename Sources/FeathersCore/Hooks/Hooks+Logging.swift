extension Hooks {
    /// Reports every call to a sink: once, when it ended, with its duration and outcome.
    ///
    /// It is the outermost of all hooks, wherever it was registered: what is reported is what the caller sees. Calls that succeed or are
    /// cancelled are ``DiagnosticLevel/info``, those a server refused ``DiagnosticLevel/warning``, other failures
    /// ``DiagnosticLevel/error``; that one is tried again is a ``DiagnosticLevel/notice``, that one begins a ``DiagnosticLevel/trace``.
    /// - Parameters:
    ///   - levels: what the sink wants to hear; the rest costs next to nothing.
    ///   - redaction: what is not told.
    ///   - verbosity: whether payloads and header fields are told too.
    ///   - sink: what is told.
    public static func logging(
        levels: DiagnosticLevels = DiagnosticLevels(.info), redaction: Redaction = .standard, verbosity: DiagnosticVerbosity = .brief,
        to sink: any DiagnosticSink
    ) -> Hooks {
        var hooks = Hooks()
        let detail = DiagnosticDetail(redaction: redaction, verbosity: verbosity)
        hooks.diagnostics = Diagnostics(Diagnostics.Outlet(sink: sink, levels: levels, detail: detail))
        return hooks
    }

    /// Reports every call to a function; the rest is as in ``logging(levels:redaction:verbosity:to:)-(_,_,_,DiagnosticSink)``.
    public static func logging(
        levels: DiagnosticLevels = DiagnosticLevels(.info), redaction: Redaction = .standard, verbosity: DiagnosticVerbosity = .brief,
        to receive: @escaping @Sendable (DiagnosticEvent) -> Void
    ) -> Hooks {
        logging(levels: levels, redaction: redaction, verbosity: verbosity, to: ClosureDiagnosticSink(receive))
    }
}
