import FeathersSupport
import Foundation

/// The body of a successful response on its way to a reader, in a bounded buffer.
///
/// The exchange writes, one task reads. A full buffer pauses the exchange, and with it the socket, so that a slow reader slows the server down
/// and costs no memory. Responses with other statuses are not written here; the exchange returns them in full.
package final class HTTPBodyPipe: Sendable {
    private struct State {
        var buffer: [UInt8] = []
        /// Continues the exchange after a pause.
        var resume: (@Sendable () -> Void)?
        var isPaused = false
        var end: Result<Void, any Error>?
        /// Settled when the state changes while the reader is waiting.
        var change: Promise<Void>?
    }

    /// The number of buffered bytes from which the exchange pauses. A piece that has arrived is always accepted.
    package let limit: Int
    private let state = Locked(State())
    private let opening = Promise<HTTPResponse>()

    package init(limit: Int = 64 << 10) { self.limit = max(limit, 1) }

    // MARK: The reader

    /// Waits for the head of the response. Its body is empty unless the client does not stream, or the status is not a success.
    /// - Throws: The error of the exchange, or `CancellationError`.
    package func head() async throws -> HTTPResponse { try await opening.value() }

    /// Waits for bytes, and returns all that have arrived; nil at the end of a complete body.
    /// - Throws: The error of the exchange, or `CancellationError`.
    package func next() async throws -> [UInt8]? {
        while true {
            let (bytes, end, change, resume) = state.withLock { state in
                if state.buffer.isEmpty {
                    if let end = state.end {
                        return ([UInt8](), end as Result<Void, any Error>?, nil as Promise<Void>?, nil as (@Sendable () -> Void)?)
                    }
                    let change = Promise<Void>()
                    state.change = change
                    return ([], nil, change, nil)
                }
                var taken: [UInt8] = []
                swap(&taken, &state.buffer)
                defer { state.isPaused = false }
                return (taken, nil, nil, state.isPaused ? state.resume : nil)
            }
            resume?()
            if let end {
                try end.get()
                return nil
            }
            guard let change else { return bytes }
            try await change.value()
        }
    }

    // MARK: The exchange

    /// Passes on the head of a successful response. `resume` continues the exchange after a pause; it may be called on any thread.
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
        let (isFull, change) = state.withLock { state in
            guard state.end == nil else { return (false, nil as Promise<Void>?) }
            state.buffer.append(contentsOf: bytes)
            state.isPaused = state.buffer.count >= limit
            defer { state.change = nil }
            return (state.isPaused, state.change)
        }
        change?.resolve(())
        return isFull
    }

    /// Ends the body. Only the first call counts.
    package func end(_ result: Result<HTTPResponse, any Error>) {
        let change = state.withLock { state in
            guard state.end == nil else { return nil as Promise<Void>? }
            // A client that does not stream returns the whole body at once.
            if case .success(let response) = result, !opening.isSettled, response.isSuccess { state.buffer = response.body }
            state.end = result.map { _ in }
            (state.resume, state.isPaused) = (nil, false)
            defer { state.change = nil }
            return state.change
        }
        switch result {
        case .success(var response):
            if response.isSuccess { response.body = [] }
            opening.resolve(response)
        case .failure(let error): opening.fail(error)
        }
        change?.resolve(())
    }
}
