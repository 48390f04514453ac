import Foundation

/// A port of this machine where connections are made, but nobody ever says a word; with a full backlog not even that.
final class SilentPort: Sendable {
    let port: UInt16
    private let descriptors: [Int32]

    init(isFull: Bool = false) throws {
        let listening = Self.newSocket()
        var address = Self.loopback(port: 0)
        guard Self.with(&address, { bind(listening, $0, $1) }) == 0, listen(listening, isFull ? 0 : 64) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = Self.with(&address) { pointer, _ in getsockname(listening, pointer, &length) }
        port = UInt16(bigEndian: address.sin_port)
        var descriptors = [listening]
        for _ in 0..<(isFull ? 4 : 0) {
            // What finds no room in the backlog stays on its way for ever.
            let waiting = Self.newSocket()
            _ = fcntl(waiting, F_SETFL, O_NONBLOCK)
            _ = Self.with(&address) { connect(waiting, $0, $1) }
            descriptors.append(waiting)
        }
        self.descriptors = descriptors
    }

    /// Refuses connections from here on.
    func stop() {
        for descriptor in descriptors { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }

    private static func newSocket() -> Int32 {
        #if os(Linux)
            socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func with(_ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32)
        -> Int32
    {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
