/// The selection of measurements shown in the README.
struct Story {
    struct Row {
        let task: String
        let nanoseconds: Double
        let cpuNanoseconds: Double
        var comparisons: [Ratio] = []
    }

    /// The speed and processor time relative to another implementation of the same task; above 1 is faster or cheaper.
    struct Ratio {
        let beside: String
        let ratio: Double
        let cpuRatio: Double
    }

    private struct Source {
        let beside: String
        let group: String
        let name: String
        let reference: String

        init(_ beside: String, in group: String, _ name: String, against reference: String) {
            (self.beside, self.group, self.name, self.reference) = (beside, group, name, reference)
        }
    }

    let machine: Machine
    /// The rows in display order. Tasks that were not measured are omitted.
    private(set) var rows: [Row] = []

    init(_ results: Results) {
        machine = results.machine
        for (task, sources) in Self.tasks {
            var row: Row?
            for source in sources {
                guard let own = results.measurement(source.group, source.name),
                    let other = results.measurement(source.group, source.reference)
                else { continue }
                row = row ?? Row(task: task, nanoseconds: own.nanoseconds, cpuNanoseconds: own.cpuNanoseconds)
                row?.comparisons.append(
                    Ratio(
                        beside: source.beside, ratio: other.nanoseconds / own.nanoseconds,
                        cpuRatio: other.cpuNanoseconds / own.cpuNanoseconds))
            }
            if let row { rows.append(row) }
        }
    }

    private static let tasks: [(String, [Source])] = {
        let (json, rest, socketIO) = ("JSON, page of 10", "REST get", SocketIOBenchmarks.name)
        func peers(_ task: String, _ names: [String]) -> [Source] {
            names.map { Source($0, in: PeerBenchmarks.name(task), PeerBenchmarks.ours, against: $0) }
        }
        let overREST = ["aiohttp", "Node's fetch"]
        // Stored results may be of before Node's WebSocket was hand-written.
        let overSocketIO = ["python-socketio", "aiohttp", "bare ws", "Node, hand-written WebSocket"]
        return [
            ("JSON to models", [Source("JSONDecoder", in: json, "to a model", against: "to a model, JSONDecoder")]),
            ("Models to JSON", [Source("JSONEncoder", in: json, "from a model", against: "from a model, JSONEncoder")]),
            ("JSON parsing", [Source("JSONSerialization", in: json, "parse (again)", against: "parse, JSONSerialization")]),
            (
                "JSON:API to models",
                [Source("JSONDecoder, plain JSON", in: "JSON:API, 1 MB", "to models", against: "JSONDecoder, plain JSON")]
            ),
            (
                "REST get, one at a time",
                [Source("bare URLSession", in: rest, "default client, one at a time", against: "bare URLSession, one at a time")]
                    + peers("REST get, one at a time", overREST)
            ),
            (
                "REST get, 64 in flight",
                [Source("bare URLSession", in: rest, "default client, 64 at once", against: "bare URLSession, 64 at once")]
                    + peers("REST get, 64 in flight", overREST)
            ),
            (
                "Socket.IO get, one at a time",
                [Source("bare WebSocket", in: socketIO, "one at a time", against: "bare WebSocket, one at a time")]
                    + peers("Socket.IO get, one at a time", overSocketIO)
            ),
            (
                "Socket.IO get, 64 in flight",
                [Source("bare WebSocket", in: socketIO, "64 in flight", against: "bare WebSocket, 64 in flight")]
                    + peers("Socket.IO get, 64 in flight", overSocketIO)
            ),
            ("Socket.IO event received", peers("Socket.IO events received, one write each", overSocketIO)),
            ("1 MB Socket.IO round trip", peers("Socket.IO, 1 MB round trip", overSocketIO)),
        ]
    }()

    var markdown: String {
        var table = TextTable(("", .left), ("time", .right), ("CPU", .right), ("speed relative to", .left))
        table.rows = rows.map { row in
            [
                row.task, row.nanoseconds.nanosecondsInWords, row.cpuNanoseconds.nanosecondsInWords,
                row.comparisons.map { "\($0.beside) **\($0.ratio.times)**" }.joined(separator: ", "),
            ]
        }
        return table.markdown
    }
}
