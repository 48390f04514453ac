extension AppMetrics {
    /// The metrics in Prometheus' text format, version 0.0.4 (`text/plain; version=0.0.4`).
    public var prometheusText: String {
        var text = ""
        var name = ""
        for sample in samples {
            if sample.name != name { text += Self.head(sample.name, sample.kind.rawValue, sample.help) }
            name = sample.name
            text += Self.line(name, sample.labels, sample.value)
        }
        let durations = "rpc_client_call_duration_seconds"
        let measured = calls.filter { !$0.durations.isEmpty }
        if !measured.isEmpty { text += Self.head(durations, "histogram", "Durations of calls.") }
        return text + measured.map { $0.histogram(named: durations) }.joined()
    }

    private static func head(_ name: String, _ type: String, _ help: String) -> String {
        "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    fileprivate static func line(_ name: String, _ labels: [(String, String)], _ value: some Numeric) -> String {
        let list = labels.map { "\($0)=\"\($1.escaping(["\\": #"\\"#, "\"": #"\""#, "\n": #"\n"#]))\"" }
        return "\(name)\(list.isEmpty ? "" : "{\(list.joined(separator: ","))}") \(value)\n"
    }
}

extension AppMetrics.Calls {
    fileprivate func histogram(named name: String) -> String {
        var count = 0
        let labels = [("rpc_system_name", "feathers")] + labels
        let bounds = zip(DurationHistogram.bounds.map { "\($0 / .seconds(1))" } + ["+Inf"], durations.counts)
        let buckets = bounds.map { bound, inBucket in
            count += inBucket
            return AppMetrics.line("\(name)_bucket", labels + [("le", bound)], count)
        }
        return buckets.joined() + AppMetrics.line("\(name)_sum", labels, durations.sum / .seconds(1))
            + AppMetrics.line("\(name)_count", labels, durations.count)
    }
}
