import Dispatch
import Foundation
import Synchronization

/// A TCP connection.
final class Client: Sendable {
    /// The bytes that the client sends, until either side closes the connection. Only one reader at a time.
    let bytes: AsyncStream<[UInt8]>

    /// The socket while it is open. Afterward, the system may reuse its descriptor.
    private struct Socket {
        let descriptor: Int32
        let source: any DispatchSourceRead
    }

    private let socket: Mutex<Socket?>

    init(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        #if canImport(Darwin)
            // Writing to a closed connection must fail without a signal. On other platforms, each write has an option
            // for it.
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        let (bytes, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        self.bytes = bytes
        source.setEventHandler {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { continuation.yield(Array(buffer[..<count])) }
            if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { continuation.finish() }
        }
        source.setCancelHandler {
            continuation.finish()
            _ = Foundation.close(descriptor)
        }
        source.activate()
        socket = Mutex(Socket(descriptor: descriptor, source: source))
    }

    deinit { close() }

    /// Sends as much of a text as fits without waiting.
    /// - Returns: Whether everything was sent; `false` if the client has disconnected, or is too slow and has lost
    ///   data.
    func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        return socket.withLock { socket in
            guard let descriptor = socket?.descriptor else { return false }
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Self.quietly) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Closes the connection. Does nothing if it is already closed.
    func close() {
        socket.withLock { socket in
            socket?.source.cancel()
            socket = nil
        }
    }

    #if canImport(Darwin)
        private static let quietly: Int32 = 0
    #else
        // Prevents a signal if the connection is closed.
        private static let quietly = Int32(MSG_NOSIGNAL)
    #endif
}
