#if os(Linux)
    import Foundation

    @testable import FeathersNetworking

    /// The server's end of a connection: the test writes what the server sends.
    final class WebSocketPeer: Sendable {
        private let descriptor: Int32

        private init(owning descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// A connection to a peer.
        static func connected() throws -> (WebSocketPeer, CurlWebSocketConnection) {
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            let connection = CurlWebSocketConnection(
                SocketByteStream(owning: ends[0]), early: [], on: try SocketLoop.shared(), host: "peer",
                maximumMessageSize: 1 << 20,
                closingTimeout: .seconds(5))
            return (WebSocketPeer(owning: ends[1]), connection)
        }

        func deliver(_ frames: [ServerFrame]) {
            let bytes = frames.flatMap(\.bytes)
            bytes.withUnsafeBytes { all in
                var rest = all
                while !rest.isEmpty {
                    let count = send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                    guard count > 0 else { return }
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                }
            }
        }

        /// Waits for a number of bytes from the connection.
        func receive(_ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            return recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : []
        }

        /// Refuses everything that the connection writes from now on.
        func refuseWrites() { shutdown(descriptor, Int32(SHUT_RD)) }
    }
#endif
