/// This client beside others, a task a row.
struct PeerTable {
    private let results: Results

    init(_ results: Results) {
        self.results = results
    }

    var text: String {
        var table = TextTable(
            ("task", .left), (PeerBenchmarks.ours, .right), ("CPU", .right), ("client", .left), ("takes", .right), ("CPU", .right),
            ("times as long", .right), ("CPU", .right))
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
            \(results.machine.title); an operation, the median of \(results.machine.rounds) rounds in which the clients take turns.
            'ws by hand' is Node's ws and the frames of a call, without reconnection, heartbeat or deadlines.
            """
        return ([table.text, "", legend] + results.notes).joined(separator: "\n")
    }
}
