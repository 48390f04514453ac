import FeathersCore

/// Listens to numbered events and checks that none comes twice or out of order, nor is missed without a marker.
struct ChaosSubscriber {
    let index: Int
    let journal: ChaosJournal
    /// How long this one takes for an event.
    let pause: Duration?

    /// Listens until the event that says it is the last.
    func listen(to deliveries: EventDeliveries<JSONValue>, of run: String) async throws {
        var last: Int64?
        var mayMiss = true
        for await delivery in deliveries {
            switch delivery {
            case .gap(let gap):
                mayMiss = true
                journal.note { $0.gaps[Self.name(of: gap.reason), default: 0] += 1 }
            case .event(let data):
                guard data["run"]?.string == run else { continue }
                guard let number = data["n"]?.integer else {
                    journal.violated("subscriber \(index) heard an event without a number")
                    continue
                }
                if let last, number <= last { journal.violated("subscriber \(index) heard \(number) after \(last)") }
                if let last, number > last + 1, !mayMiss {
                    journal.violated("subscriber \(index) heard \(number) after \(last), and no marker")
                }
                (last, mayMiss) = (number, false)
                journal.note { $0.events += 1 }
                if data["last"]?.bool == true { return }
                if let pause { try await Task.sleep(for: pause) }
            }
        }
    }

    private static func name(of reason: EventGap.Reason) -> String {
        switch reason {
        case .overflow: "overflow"
        case .undecodable: "undecodable"
        case .reconnected: "reconnected"
        }
    }
}
