extension AppMetrics {
    /// The numbers in Prometheus' text format, version 0.0.4 (`text/plain; version=0.0.4`).
    public var prometheusText: String {
        var text = PrometheusText()
        text.family("feathers_up", "gauge", "Whether the app is ready: its calls reach whoever answers them.") {
            $0.add(health.isReady ? "1" : "0")
        }
        addCalls(to: &text)
        text.family("feathers_calls_under_way", "gauge", "Calls that have begun and not ended.") { $0.add("\(callsUnderWay)") }
        if let transport {
            text.family("feathers_transport_calls", "gauge", "Calls the transport holds.") {
                $0.add("\(transport.waiting)", ["state": "waiting"])
                $0.add("\(transport.unanswered)", ["state": "unanswered"])
            }
            text.family("feathers_connections_total", "counter", "How often a connection stood.") { $0.add("\(connections)") }
            text.family("feathers_reconnections_total", "counter", "How often a connection stood again.") { $0.add("\(reconnections)") }
        }
        text.family("feathers_event_subscribers", "gauge", "Who listens to a service's events.") { text in
            for events in events { text.add("\(events.subscribers)", ["path": events.path]) }
        }
        text.family("feathers_events_waiting", "gauge", "Events that wait for slow readers.") { text in
            for events in events { text.add("\(events.waiting)", ["path": events.path]) }
        }
        text.family("feathers_events_dropped_total", "counter", "Events that slow readers have lost.") { text in
            for events in events { text.add("\(events.dropped)", ["path": events.path]) }
        }
        return text.text
    }

    private func addCalls(to text: inout PrometheusText) {
        text.family("feathers_calls_total", "counter", "Calls that ended, by outcome.") { text in
            for calls in calls {
                for (outcome, count) in calls.outcomes.sorted(by: { $0.key < $1.key }) {
                    text.add("\(count)", ["path": calls.path, "method": calls.method, "outcome": outcome])
                }
            }
        }
        text.family("feathers_call_retries_total", "counter", "How often calls were tried again.") { text in
            for calls in calls { text.add("\(calls.retries)", ["path": calls.path, "method": calls.method]) }
        }
        text.family("feathers_call_duration_seconds", "histogram", "How long calls took.") { text in
            for calls in calls {
                let labels: KeyValuePairs = ["path": calls.path, "method": calls.method]
                var count = 0
                for (bound, inBucket) in zip(DurationHistogram.bounds, calls.durations.counts) {
                    count += inBucket
                    text.add("\(count)", ["path": calls.path, "method": calls.method, "le": "\(bound / .seconds(1))"], suffix: "_bucket")
                }
                text.add(
                    "\(calls.durations.count)", ["path": calls.path, "method": calls.method, "le": "+Inf"], suffix: "_bucket")
                text.add("\(calls.durations.sum / .seconds(1))", labels, suffix: "_sum")
                text.add("\(calls.durations.count)", labels, suffix: "_count")
            }
        }
    }
}

/// Writes Prometheus' text format.
private struct PrometheusText {
    private(set) var text = ""
    private var name = ""

    /// A metric's head, then its samples; nothing where it has none.
    mutating func family(_ name: String, _ type: String, _ help: String, _ samples: (inout PrometheusText) -> Void) {
        self.name = name
        let before = text
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        let head = text
        samples(&self)
        if text == head { text = before }
    }

    mutating func add(_ value: String, _ labels: KeyValuePairs<String, String> = [:], suffix: String = "") {
        let list = labels.map { label, value in
            let value = value.escaping(["\\": #"\\"#, "\"": #"\""#, "\n": #"\n"#])
            return "\(label)=\"\(value)\""
        }.joined(separator: ",")
        text += "\(name)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
    }
}
