import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A listening socket on a free local port, with one thread per connection.
struct LoopbackListener {
    let port: UInt16

    /// - Parameter serve: Serves one peer until it disconnects; the connection is closed afterwards.
    init(_ serve: @escaping @Sendable (LoopbackPeer) -> Void) throws {
        let listener = socket(AF_INET, Self.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 1024) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                var noDelay: Int32 = 1
                setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<Int32>.size))
                let thread = Thread {
                    serve(LoopbackPeer(connection: connection))
                    close(connection)
                }
                thread.stackSize = 256 << 10
                thread.start()
            }
        }
    }

    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif
}

/// The other end of a connection, read and written with blocking calls.
struct LoopbackPeer: Sendable {
    let connection: Int32

    /// Reads available bytes into `buffer`, and returns their number; 0 at the end.
    func receive(into buffer: inout [UInt8]) -> Int {
        max(0, read(connection, &buffer, buffer.count))
    }

    /// Writes all bytes, and returns whether that succeeded.
    func send(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = write(connection, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }
}
