import FeathersSupport
package import Foundation

/// Bytes of a request body that are produced while they are sent, and can be sent only once.
///
/// The sequence is asked for its first element when the connection is ready to send, and for no further element while
/// ``limit`` or more bytes are unsent.
package final class HTTPBodySource: Sendable {
    private struct State {
        var buffer: [UInt8] = []
        /// The number of bytes of the buffer that were taken.
        var offset = 0
        /// Whether this attempt has begun to read the sequence.
        var hasBegun = false
        var end: Result<Void, any Error>?
        /// Settled while the exchange wants more bytes.
        var demand = Promise<Void>()
        /// Continues the exchange, which is waiting for bytes.
        var resume: (@Sendable () -> Void)?

        var unsentCount: Int { buffer.count - offset }

        mutating func takeResume() -> (@Sendable () -> Void)? {
            defer { resume = nil }
            return resume
        }
    }

    /// The number of unsent bytes at which the producer waits. A piece that has been produced is always accepted.
    static let limit = 64 << 10

    private let state = Locked(State())
    private let produce: @Sendable (HTTPBodySource) async throws -> Void
    /// Whether an attempt has begun to read the sequence. All attempts to send it share this value, and only the first
    /// of them may read.
    private let isTaken: Locked<Bool>

    package init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
        produce = { source in for try await piece in pieces { try await source.write(piece) } }
        isTaken = Locked(false)
    }

    private init(attemptAt source: HTTPBodySource) { (produce, isTaken) = (source.produce, source.isTaken) }

    /// Returns the stream for one attempt to send it, with a buffer of its own.
    func attempt() -> HTTPBodySource { HTTPBodySource(attemptAt: self) }

    /// Whether both read the same sequence.
    func isSameStream(as other: HTTPBodySource) -> Bool { isTaken === other.isTaken }

    /// Whether the sequence has been read, so that it cannot be sent again.
    var hasBegun: Bool { isTaken.withLock { $0 } }

    /// The number of bytes in memory.
    var bufferedCount: Int { state.withLock { $0.buffer.count } }

    /// The error of a second attempt to send the sequence.
    static let readBefore = HTTPClientError(
        .other, "The body contains a stream, which an earlier attempt has read: call again with a new stream")

    /// The error with which the sequence failed.
    var failure: (any Error)? {
        guard case .failure(let error) = state.withLock({ $0.end }) else { return nil }
        return error
    }

    // MARK: The producer

    /// Produces the bytes at the rate at which the exchange of this attempt takes them.
    func run() async {
        // Without demand, the sequence is unread, and another attempt may send it.
        guard (try? await state.withLock({ $0.demand }).value()) != nil else { return }
        let end: Result<Void, any Error>
        do {
            try await produce(self)
            // A cancelled sequence may end as if it were complete.
            try Task.checkCancellation()
            end = .success(())
        } catch {
            end = .failure(error)
        }
        let resume = state.withLock { state in
            state.end = end
            return state.takeResume()
        }
        resume?()
    }

    private func write(_ piece: Data) async throws {
        let (demand, resume) = state.withLock { state in
            // If the connection is slower than the sequence, the buffer is never empty, so sent bytes must be removed
            // here.
            if state.offset >= Self.limit {
                state.buffer.removeSubrange(..<state.offset)
                state.offset = 0
            }
            state.buffer.append(contentsOf: piece)
            if state.unsentCount >= Self.limit, state.demand.isSettled { state.demand = Promise() }
            return (state.demand, state.takeResume())
        }
        resume?()
        try await demand.value()
    }

    // MARK: The exchange

    /// Takes bytes.
    /// - Parameters:
    ///   - buffer: Where the bytes go.
    ///   - resume: Called when bytes become available after this method returned nil, at most once and on any thread.
    /// - Returns: The number of bytes, 0 at the end, or nil if there are none yet.
    /// - Throws: ``HTTPClientError`` if the sequence failed (see ``failure``), or is read by another attempt.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, resume: @escaping @Sendable () -> Void
    ) throws(HTTPClientError) -> Int? {
        let (count, end, demand) = try state.withLock {
            (state) throws(HTTPClientError) -> (Int, Result<Void, any Error>?, Promise<Void>?) in
            if !state.hasBegun {
                guard
                    !isTaken.withLock({ taken in
                        defer { taken = true }; return taken
                    })
                else { throw Self.readBefore }
                state.hasBegun = true
            }
            let count = min(state.unsentCount, buffer.count)
            if count == 0 {
                if state.end == nil { state.resume = resume }
                return (0, state.end, state.demand)
            }
            state.buffer.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[state.offset..<(state.offset + count)]))
            }
            state.offset += count
            if state.unsentCount == 0 {
                state.buffer.removeAll(keepingCapacity: true)
                state.offset = 0
            }
            return (count, state.end, state.unsentCount < Self.limit ? state.demand : nil)
        }
        demand?.resolve(())
        if case .failure = end { throw HTTPClientError(.other, "The stream of the request's body failed") }
        return count == 0 && end == nil ? nil : count
    }
}
