/// A table that compares this client with others, with one row per task and client.
struct PeerTable {
    private let results: Results

    init(_ results: Results) {
        self.results = results
    }

    var text: String {
        var table = TextTable(
            ("task", .left), (PeerBenchmarks.ours, .right), ("CPU", .right), ("client", .left), ("time", .right),
            ("CPU", .right),
            ("relative time", .right), ("CPU", .right))
        for ours in results.measurements where ours.name == PeerBenchmarks.ours {
            let peers = results.measurements.filter { $0.group == ours.group && $0.name != ours.name }
            let task = ours.group.replacing(PeerBenchmarks.name(""), with: "")
            let own = [task, ours.nanoseconds.nanosecondsInWords, ours.cpuNanoseconds.nanosecondsInWords]
            if peers.isEmpty { table.rows.append(own + Array(repeating: "", count: 5)) }
            for (index, peer) in peers.enumerated() {
                table.rows.append(
                    (index == 0 ? own : ["", "", ""]) + [
                        peer.name, peer.nanoseconds.nanosecondsInWords, peer.cpuNanoseconds.nanosecondsInWords,
                        (peer.nanoseconds / ours.nanoseconds).times, (peer.cpuNanoseconds / ours.cpuNanoseconds).times,
                    ])
            }
        }
        let legend = """
            \(results.machine.title). Times are per operation, \
            the median of \(results.machine.rounds) rounds in which the clients alternate.
            Over Socket.IO, aiohttp and Node's WebSocket have only the frames of calls and events: \
            no reconnection, heartbeat or deadlines.
            Of a stream, every client parses the JSON and looks at one member; \
            the one in C only counts events, which is what the kernel costs.
            The time of a first item is the wait for it; its CPU is that of the whole stream.
            """
        return ([table.text, "", legend] + results.notes).joined(separator: "\n")
    }
}
