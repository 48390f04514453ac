import FeathersCore

/// Listens to numbered events and checks that none comes twice or out of order, nor is missed without a marker.
struct ChaosSubscriber {
    let index: Int
    let journal: ChaosJournal
    /// How long this one takes for an event.
    let pause: Duration?

    /// Listens until the event that says it is the last.
    func listen(to deliveries: AsyncStream<EventDelivery<ServiceEvent>>, of run: String) async throws {
        var last: Int64?
        var mayMiss = true
        // The marker of a reader's own slowness may stand one event before the hole or one after it.
        var overflow = 0
        var hole: String?
        for await delivery in deliveries {
            switch delivery {
            case .gap(let gap):
                if case .overflow = gap.reason {
                    (overflow, hole) = (2, nil)
                } else {
                    mayMiss = true
                }
                journal.note { $0.gaps[Self.name(of: gap.reason), default: 0] += 1 }
            case .event(let event):
                let data = event.data
                guard data["run"]?.string == run else { continue }
                guard let number = data["n"]?.integer else {
                    journal.violated("subscriber \(index) heard an event without a number")
                    continue
                }
                if let last, number <= last { journal.violated("subscriber \(index) heard \(number) after \(last)") }
                if let hole { journal.violated(hole) }
                hole = nil
                if let last, number > last + 1, !mayMiss, overflow == 0 {
                    hole = "subscriber \(index) heard \(number) after \(last), and no marker"
                }
                (last, mayMiss, overflow) = (number, false, max(overflow - 1, 0))
                journal.note { $0.events += 1 }
                if data["last"]?.bool == true {
                    if let hole { journal.violated(hole) }
                    return
                }
                if let pause { try await Task.sleep(for: pause) }
            }
        }
    }

    private static func name(of reason: EventGap.Reason) -> String {
        switch reason {
        case .overflow: "overflow"
        case .undecodable: "undecodable"
        case .reconnected: "reconnected"
        case .identityChanged: "identity changed"
        }
    }
}
