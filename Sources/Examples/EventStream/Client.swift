import Dispatch
import Foundation
import Synchronization

/// One TCP connection.
final class Client: Sendable {
    /// What the other side sends, until it goes or this side closes. To be read by one at a time.
    let bytes: AsyncStream<[UInt8]>

    /// The socket while it is open: its number may be another one's afterwards.
    private struct Socket {
        let descriptor: Int32
        let source: any DispatchSourceRead
    }

    private let socket: Mutex<Socket?>

    init(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        #if canImport(Darwin)
            // Writing to a peer that is gone is to fail, and no signal; elsewhere each write says so.
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

    /// Sends a text as far as there is room for it at once.
    /// - Returns: false where the other side is gone, or so slow that it has lost something.
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

    /// Ends the connection; does nothing where it has ended.
    func close() {
        socket.withLock { socket in
            socket?.source.cancel()
            socket = nil
        }
    }

    #if canImport(Darwin)
        private static let quietly: Int32 = 0
    #else
        // A peer that is gone is no signal.
        private static let quietly = Int32(MSG_NOSIGNAL)
    #endif
}
