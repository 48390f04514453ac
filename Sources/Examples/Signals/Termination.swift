import Dispatch
import Foundation

/// Hears of the signals that ask a process to end: SIGTERM, and SIGINT from a terminal.
public final class Termination {
    private let sources: [any DispatchSourceSignal]

    /// - Parameter handler: called for every signal, until this object is gone; it must not wait for anything.
    public init(_ handler: @escaping @Sendable () -> Void) {
        sources = [SIGTERM, SIGINT].map { number in
            // The default would end the process.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler(handler: handler)
            source.activate()
            return source
        }
    }

    deinit {
        for source in sources { source.cancel() }
    }
}
