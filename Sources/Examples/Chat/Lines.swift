import Foundation

/// The lines of a terminal, a pipe or a file, as they arrive.
struct Lines: Sendable {
    /// The lines, for one reader at a time. Ends with the input.
    let values: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    /// Reads on a thread of its own, which waits for each line and ends with the input.
    ///
    /// A dispatch source needs no thread, but on Linux libdispatch may use it after it is freed if it is cancelled when
    /// its pipe ends (swiftlang/swift-corelibs-libdispatch#949).
    ///
    /// - Parameter descriptor: The file descriptor to read, which stays open; 0 for standard input.
    init(from descriptor: Int32) {
        let (values, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var rest: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                // Another program may have told the terminal not to wait.
                var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&input, 1, -1)
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && (errno == EAGAIN || errno == EINTR) { continue }
                guard count > 0 else { break }
                var lines = (rest + buffer.prefix(count)).split(
                    separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                // The last line may be incomplete.
                rest = Array(lines.removeLast())
                for line in lines {
                    if case .terminated = continuation.yield(String(decoding: line, as: UTF8.self)) { return }
                }
            }
            if !rest.isEmpty { continuation.yield(String(decoding: rest, as: UTF8.self)) }
            continuation.finish()
        }
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
