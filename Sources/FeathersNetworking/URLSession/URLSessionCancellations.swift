import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Cancels tasks, one after the other and on a queue of its own.
///
/// Foundation's `cancel()` on Linux waits for a queue that all sessions share. Called where a caller is cancelled it may wait for whoever is
/// about to wake that very caller, for ever; called from that queue it would wait for itself.
enum URLSessionCancellations {
    private static let queue = DispatchQueue(label: "feathers.http.cancellations")

    static func cancel(_ task: URLSessionTask) {
        queue.async { task.cancel() }
    }
}
