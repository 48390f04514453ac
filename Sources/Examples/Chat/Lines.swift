import Dispatch
import Foundation
import Synchronization

/// The lines of a terminal, a pipe or a file, as they arrive. No thread blocks waiting for them.
struct Lines: Sendable {
    /// The lines, for one reader at a time. Ends with the input.
    let values: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    /// - Parameter descriptor: The file descriptor to read, which stays open; 0 for standard input.
    init(from descriptor: Int32) {
        let (values, continuation) = AsyncStream.makeStream(of: String.self)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        let rest = Mutex<[UInt8]>([])
        source.setEventHandler {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 && (errno == EAGAIN || errno == EINTR) { return }
            let lines = rest.withLock { rest in
                rest += buffer.prefix(max(count, 0))
                var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                // The last line may be incomplete, unless the input has ended.
                let last = lines.removeLast()
                if count <= 0, !last.isEmpty { lines.append(last) }
                let texts = lines.map { String(decoding: $0, as: UTF8.self) }
                rest = count > 0 ? Array(last) : []
                return texts
            }
            for line in lines { continuation.yield(line) }
            if count <= 0 { continuation.finish() }
        }
        source.activate()
        let held = Mutex<(any DispatchSourceRead)?>(source)
        continuation.onTermination = { _ in held.withLock { $0.take() }?.cancel() }
        (self.values, self.continuation) = (values, continuation)
    }

    /// Returns the next line; nil if there is none.
    func next() async -> String? {
        for await line in values { return line }
        return nil
    }

    /// Ends the lines early.
    func finish() { continuation.finish() }
}
