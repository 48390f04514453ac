/// The selection of measurements shown in the README: the speed of each task relative to other implementations of it.
enum Story {
    private typealias Ratio = (beside: String, group: String, name: String, reference: String)

    /// The tasks in display order. Those that were not measured are omitted.
    static func markdown(of results: Results) -> String {
        var table = TextTable(("", .left), ("time", .right), ("CPU", .right), ("speed relative to", .left))
        for (task, ratios) in tasks {
            let measured = ratios.compactMap { ratio -> (own: Measurement, text: String)? in
                guard let own = results.measurement(ratio.group, ratio.name),
                    let other = results.measurement(ratio.group, ratio.reference)
                else { return nil }
                return (own, "\(ratio.beside) **\((other.nanoseconds / own.nanoseconds).times)**")
            }
            guard let own = measured.first?.own else { continue }
            let texts = measured.map(\.text).joined(separator: ", ")
            table.rows.append([task, own.nanoseconds.nanosecondsInWords, own.cpuNanoseconds.nanosecondsInWords, texts])
        }
        return table.markdown
    }

    /// The speed relative to other clients, for each task that was measured with them.
    static func plot(of results: Results) -> Plot {
        let groups = tasks.compactMap { task, ratios -> (String, [Plot.Bar])? in
            let bars = ratios.filter { $0.group.hasPrefix(PeerBenchmarks.name("")) }.compactMap { ratio -> Plot.Bar? in
                guard let own = results.measurement(ratio.group, ratio.name),
                    let other = results.measurement(ratio.group, ratio.reference)
                else { return nil }
                return Plot.Bar(title: ratio.beside, ratio: other.nanoseconds / own.nanoseconds)
            }
            return bars.isEmpty ? nil : (task, bars)
        }
        return Plot(
            title: "Times as fast as other clients, on the same server and machine (logarithmic)", groups: groups)
    }

    private static let tasks: [(String, [Ratio])] = {
        let (json, rest, socketIO) = ("JSON, page of 10", "REST get", SocketIOBenchmarks.name)
        func peers(_ task: String, _ names: [String]) -> [Ratio] {
            names.map { ($0, PeerBenchmarks.name(task), PeerBenchmarks.ours, $0) }
        }
        func overREST(_ task: String) -> [Ratio] {
            [("bare URLSession", rest, "default client, \(task)", "bare URLSession, \(task)")]
        }
        let (http, socket) = (
            ["aiohttp", "Node's fetch"], ["python-socketio", "aiohttp", "Node, hand-written WebSocket"]
        )
        return [
            ("JSON to models", [("JSONDecoder", json, "to a model", "to a model, JSONDecoder")]),
            ("Models to JSON", [("JSONEncoder", json, "from a model", "from a model, JSONEncoder")]),
            (
                "JSON:API to models",
                [("JSONDecoder, plain JSON", "JSON:API, 1 MB", "to models", "JSONDecoder, plain JSON")]
            ),
            ("REST get, one at a time", overREST("one at a time") + peers("REST get, one at a time", http)),
            ("REST get, 64 in flight", overREST("64 at once") + peers("REST get, 64 in flight", http)),
            (
                "Socket.IO get, one at a time",
                [("bare WebSocket", socketIO, "one at a time", "bare WebSocket, one at a time")]
                    + peers("Socket.IO get, one at a time", socket)
            ),
            (
                "Socket.IO get, 64 in flight",
                [("bare WebSocket", socketIO, "64 in flight", "bare WebSocket, 64 in flight")]
                    + peers("Socket.IO get, 64 in flight", socket)
            ),
            ("Socket.IO event received", peers("Socket.IO events received, one write each", socket)),
        ]
    }()
}
