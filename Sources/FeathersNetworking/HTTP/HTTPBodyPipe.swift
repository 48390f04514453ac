import FeathersSupport
import Foundation

/// The body of a successful response on its way to a reader, in a bounded buffer.
///
/// The exchange writes. One task reads, or the exchange's own thread does (``forEach(_:)``). A full buffer pauses the
/// exchange, and with it the socket, so that a slow reader slows the server down and costs no memory. Responses with
/// other statuses are not written here; the exchange returns them in full.
package final class HTTPBodyPipe: Sendable {
    private struct State {
        var buffer: [UInt8] = []
        /// Continues the exchange after a pause.
        var resume: (@Sendable () -> Void)?
        var isPaused = false
        /// The function that receives the bytes as they arrive.
        var receive: (@Sendable (UnsafeRawBufferPointer) throws -> Void)?
        /// Whether `receive` is running.
        var isReceiving = false
        /// Resumed when `receive` has returned. Not checked, like `waiters`.
        var lastReturn: UnsafeContinuation<Void, Never>?
        var end: Result<Void, any Error>?
        /// Resumed when the state changes. Not checked: a waiter leaves this array exactly once, to be resumed. A
        /// promise would cost six allocations, and the reader of a slow stream waits for most of its pieces.
        var waiters: [UnsafeContinuation<Void, Never>] = []

        mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }

    /// The number of buffered bytes at which the exchange pauses. A piece that has arrived is always accepted.
    package let limit: Int
    private let state = Locked(State())
    private let opening = Promise<HTTPResponse>()

    package init(limit: Int = 64 << 10) { self.limit = max(limit, 1) }

    // MARK: The reader

    /// Waits for the head of the response. The response includes the body only if the client does not stream, or if the
    /// status is not a success.
    /// - Throws: The error of the exchange, or `CancellationError`.
    package func head() async throws -> HTTPResponse { try await opening.value() }

    /// Waits for bytes, and returns all that have arrived; nil at the end of a complete body.
    /// - Throws: The error of the exchange, or `CancellationError`.
    package func next() async throws -> [UInt8]? {
        while true {
            let (bytes, end) = take()
            if !bytes.isEmpty { return bytes }
            if let end {
                try end.get()
                return nil
            }
            await change()
            try Task.checkCancellation()
        }
    }

    /// Passes what has arrived to `receive`, and later pieces as they arrive. Returns at the end of a complete body,
    /// after which `receive` is no longer called.
    ///
    /// Later pieces are received on the exchange's own thread, which `receive` must not block. Waking the reader's
    /// thread would cost several times as much as reading a short piece.
    /// - Throws: The error of the exchange or of `receive`, or `CancellationError`.
    package func forEach(_ receive: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void) async throws {
        do {
            try await passOn(to: receive)
        } catch {
            await stopPassingOn()
            throw error
        }
        await stopPassingOn()
    }

    private func passOn(to receive: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void) async throws {
        while true {
            let (bytes, end) = take(passingOnTo: receive)
            if !bytes.isEmpty {
                try bytes.withUnsafeBytes(receive)
                continue
            }
            if let end { return try end.get() }
            await change()
            try Task.checkCancellation()
        }
    }

    /// Stops passing on what arrives. If `receive` is running, waits for it without blocking a thread, even in a
    /// cancelled task.
    private func stopPassingOn() async {
        await withUnsafeContinuation { waiter in
            let isReceiving = state.withLock { state in
                state.receive = nil
                if state.isReceiving { state.lastReturn = waiter }
                return state.isReceiving
            }
            if !isReceiving { waiter.resume() }
        }
    }

    /// Takes everything that has arrived. If nothing has, later pieces may be passed to `receive` directly, because no
    /// earlier ones are left.
    private func take(
        passingOnTo receive: (@Sendable (UnsafeRawBufferPointer) throws -> Void)? = nil
    ) -> ([UInt8], Result<Void, any Error>?) {
        let (bytes, end, resume) = state.withLock { state in
            var taken: [UInt8] = []
            swap(&taken, &state.buffer)
            state.receive = taken.isEmpty ? receive : nil
            defer { state.isPaused = false }
            return (taken, state.end, state.isPaused ? state.resume : nil)
        }
        resume?()
        return (bytes, end)
    }

    /// Waits until there are bytes or the end, or until the task is cancelled.
    private func change() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let waits = state.withLock { state in
                    // A cancellation before the registration finds no waiter to resume.
                    guard state.buffer.isEmpty, state.end == nil, !Task.isCancelled else { return false }
                    state.waiters.append(waiter)
                    return true
                }
                if !waits { waiter.resume() }
            }
        } onCancel: {
            // Other tasks that wait are woken too, and check the state again.
            for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
        }
    }

    // MARK: The exchange

    /// Passes on the head of a successful response. `resume` continues the exchange after a pause; it may be called on
    /// any thread.
    package func open(_ head: HTTPResponse, resume: @escaping @Sendable () -> Void) {
        state.withLock { $0.resume = resume }
        opening.resolve(head)
    }

    /// The number of bytes that wait for the reader.
    var unreadCount: Int { state.withLock { $0.buffer.count } }

    /// Whether the exchange must wait for the reader.
    var isFull: Bool { state.withLock { $0.isPaused } }

    /// Adds a piece of the body.
    /// - Returns: Whether the buffer is full, so that the exchange must pause until `resume` is called.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (isFull, waiters, receive) = state.withLock { state in
            guard state.end == nil, state.receive == nil else {
                let receive = state.end == nil ? state.receive : nil
                state.isReceiving = receive != nil
                return (false, [UnsafeContinuation<Void, Never>](), receive)
            }
            state.buffer.append(contentsOf: bytes)
            state.isPaused = state.buffer.count >= limit
            return (state.isPaused, state.takeWaiters(), nil)
        }
        if let receive {
            do {
                try receive(bytes)
            } catch {
                end(.failure(error))
            }
            let lastReturn = state.withLock { state in
                defer { (state.isReceiving, state.lastReturn) = (false, nil) }
                return state.lastReturn
            }
            lastReturn?.resume()
        }
        for waiter in waiters { waiter.resume() }
        return isFull
    }

    /// Ends the body. Only the first call counts.
    package func end(_ result: Result<HTTPResponse, any Error>) {
        let waiters = state.withLock { state in
            guard state.end == nil else { return [UnsafeContinuation<Void, Never>]() }
            // A client that does not stream returns the whole body at once.
            if case .success(let response) = result, !opening.isSettled, response.isSuccess {
                state.buffer = response.body
            }
            state.end = result.map { _ in }
            (state.resume, state.isPaused) = (nil, false)
            return state.takeWaiters()
        }
        switch result {
        case .success(var response):
            if response.isSuccess { response.body = [] }
            opening.resolve(response)
        case .failure(let error): opening.fail(error)
        }
        for waiter in waiters { waiter.resume() }
    }
}
