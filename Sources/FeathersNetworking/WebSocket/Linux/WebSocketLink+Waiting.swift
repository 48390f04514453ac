import FeathersCore
import FeathersSupport

#if os(Linux)
    extension WebSocketLink {
        /// Sends once there is room, in the order of the calls.
        func send(_ message: WebSocketMessage) async throws {
            try Task.checkCancellation()
            if try sendIfRoom(message) { return }
            let id = loop.newToken()
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    wait(WebSocketOutbound.Waiter(id: id, message: message, continuation: continuation))
                }
            } onCancel: {
                let waiter = outbound.withLock { outbound -> WebSocketOutbound.Waiter? in
                    outbound.waiters.firstIndex { $0.id == id }.map { outbound.waiters.remove(at: $0) }
                }
                waiter?.continuation.resume(throwing: CancellationError())
            }
        }

        private func sendIfRoom(_ message: WebSocketMessage) throws(WebSocketError) -> Bool {
            let progress = outbound.withLock { outbound -> WebSocketOutbound.Progress? in
                if let obstacle = outbound.obstacle { return .failed(obstacle) }
                guard outbound.waiters.isEmpty, outbound.isBelowHighWater else { return nil }
                return outbound.send(message)
            }
            guard let progress else { return false }
            try settle(progress)
            return true
        }

        /// Joins the queue of waiting senders, or ends the waiting at once.
        private func wait(_ waiter: WebSocketOutbound.Waiter) {
            let outcome = outbound.withLock { outbound -> Result<WebSocketOutbound.Progress, any Error>? in
                // Cancelled before this: the handler has run and found nobody.
                if Task.isCancelled { return .failure(CancellationError()) }
                if let obstacle = outbound.obstacle { return .failure(obstacle) }
                if outbound.waiters.isEmpty, outbound.isBelowHighWater { return .success(outbound.send(waiter.message)) }
                outbound.waiters.append(waiter)
                return nil
            }
            switch outcome {
            case nil:
                return
            case .failure(let error):
                waiter.continuation.resume(throwing: error)
            case .success(let progress):
                do {
                    try settle(progress)
                    waiter.continuation.resume()
                } catch {
                    waiter.continuation.resume(throwing: error)
                }
            }
        }
    }
#endif
