import Feathers
import Synchronization

/// Collects what the logging hook reports.
final class Durations: Sendable {
    private let records = Mutex<[CallRecord]>([])

    func add(_ record: CallRecord) {
        records.withLock { $0.append(record) }
    }

    var summary: String {
        let records = records.withLock { $0 }
        let total = records.reduce(Duration.zero) { $0 + $1.duration }
        let failed = records.count { $0.error != nil }
        let milliseconds = Int((total / .milliseconds(1)).rounded())
        return "\(milliseconds) ms in \(records.count) calls, \(failed) of them refused"
    }
}
