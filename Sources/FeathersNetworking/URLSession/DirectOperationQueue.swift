#if canImport(FoundationNetworking)
    import Foundation

    /// Runs what URLSession reports where it reports it: on the session's own queue, one report after the other.
    ///
    /// Foundation on Linux wraps every report in an operation of its own; that alone costs a quarter of the requests per second. The
    /// reports here only append bytes and wake callers. What calls back into the session must leave this queue first, since the
    /// session waits for its own queue then.
    ///
    /// Unchecked: it adds no state to `OperationQueue`, which is thread-safe.
    final class DirectOperationQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    }
#endif
