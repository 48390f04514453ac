import FeathersSupport
import Foundation
import Synchronization

/// A signal that asks a process to end.
public enum ProcessSignal: Sendable, Hashable, CaseIterable {
    /// SIGINT, which Ctrl-C in a terminal sends.
    case interrupt
    /// SIGTERM, which supervisors and container runtimes send.
    case terminate

    /// The signals the process receives from now on.
    ///
    /// While the stream exists, these signals no longer end the process. Afterward they do again.
    /// - Parameter signals: The signals to listen for; by default, both.
    public static func received(_ signals: Set<ProcessSignal> = Set(allCases)) -> AsyncStream<ProcessSignal> {
        listen(to: signals, once: false)
    }

    /// - Parameter once: Whether the first signal ends the stream, so that the next one has its default action.
    fileprivate static func listen(to signals: Set<ProcessSignal>, once: Bool) -> AsyncStream<ProcessSignal> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ProcessSignal.self, bufferingPolicy: .bufferingNewest(8))
        let id = SignalRelay.shared.add(
            SignalRelay.Listener(signals: signals, isOnce: once, continuation: continuation))
        continuation.onTermination = { _ in SignalRelay.shared.remove(id) }
        return stream
    }

    fileprivate var number: Int32 {
        switch self {
        case .interrupt: SIGINT
        case .terminate: SIGTERM
        }
    }
}

/// Passes signals on to the streams from their handler, which may do almost nothing.
///
/// The handler writes the signal's number into a pipe. Dispatch's signal sources are no help on Linux: an ignored
/// signal is lost there unless the main thread blocks it.
private final class SignalRelay: Sendable {
    static let shared = SignalRelay()
    /// Where the handler writes; -1 until there is a pipe.
    private static let descriptor = Atomic<Int32>(-1)

    struct Listener {
        let signals: Set<ProcessSignal>
        let isOnce: Bool
        let continuation: AsyncStream<ProcessSignal>.Continuation
    }

    private let listeners = Locked<(next: Int, all: [Int: Listener])>((0, [:]))
    private let pipe = Pipe()

    private init() {
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        Self.descriptor.store(descriptor, ordering: .releasing)
        pipe.fileHandleForReading.readabilityHandler = { [self] handle in
            // Not `availableData`, which ends the process if a signal interrupts it. After an interruption, this is
            // called again.
            var numbers = [UInt8](repeating: 0, count: 64)
            let count = read(handle.fileDescriptor, &numbers, numbers.count)
            for number in numbers.prefix(max(count, 0)) {
                for signal in ProcessSignal.allCases where signal.number == Int32(number) { deliver(signal) }
            }
        }
    }

    private func deliver(_ signal: ProcessSignal) {
        let current = listeners.withLock { $0.all.filter { $1.signals.contains(signal) } }
        // The last stream ended between the signal and now, so the signal has its default action.
        if current.isEmpty { kill(getpid(), signal.number) }
        for (id, listener) in current {
            if listener.isOnce { remove(id) }
            listener.continuation.yield(signal)
            if listener.isOnce { listener.continuation.finish() }
        }
    }

    func add(_ listener: Listener) -> Int {
        listeners.withLock { listeners in
            listeners.next += 1
            listeners.all[listeners.next] = listener
            for each in listener.signals {
                _ = signal(each.number) { number in
                    var byte = UInt8(truncatingIfNeeded: number)
                    let before = errno
                    _ = write(SignalRelay.descriptor.load(ordering: .acquiring), &byte, 1)
                    errno = before
                }
            }
            return listeners.next
        }
    }

    /// Restores the default action, which ends the process, for the signals that no stream listens for anymore.
    func remove(_ id: Int) {
        listeners.withLock { listeners in
            guard let removed = listeners.all.removeValue(forKey: id) else { return }
            for each in removed.signals where !listeners.all.values.contains(where: { $0.signals.contains(each) }) {
                _ = signal(each.number, SIG_DFL)
            }
        }
    }
}

extension FeathersApp {
    /// Runs the app until the process receives a signal, then shuts it down in order: the main function of a server's
    /// program.
    ///
    /// ```swift
    /// try await app.run(until: [.terminate, .interrupt], shutDownWithin: .seconds(20))
    /// ```
    /// A second signal during the shutdown ends the process immediately, unless a stream of
    /// ``ProcessSignal/received(_:)`` listens for it.
    /// - Parameters:
    ///   - signals: The signals that end the app.
    ///   - delay: How long the app makes new calls after it is no longer ready, as in
    ///     ``beginShutdown(after:within:)``.
    ///   - limit: How long the calls in flight may take to finish.
    /// - Throws: The errors of ``run()``.
    public func run(
        until signals: Set<ProcessSignal>, shutDownAfter delay: Duration = .zero,
        shutDownWithin limit: Duration = .seconds(20)
    ) async throws {
        let received = ProcessSignal.listen(to: signals, once: true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in received { self.beginShutdown(after: delay, within: limit) }
            }
            defer { group.cancelAll() }
            try await run()
        }
    }
}
