import Dispatch
import Foundation
import Synchronization

/// A TCP socket on this machine that accepts connections.
struct Listener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// - Parameter port: The port to listen on; 0 for any free port.
    /// - Throws: `POSIXError` if the port is not available.
    init(port: UInt16) throws {
        let descriptor = try Self.check(socket(AF_INET, Self.streams, 0))
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = Self.address(port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        do {
            _ = try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    try Self.check(bind(descriptor, address, size))
                    try Self.check(listen(descriptor, 64))
                    try Self.check(getsockname(descriptor, address, &size))
                    try Self.check(fcntl(descriptor, F_SETFL, O_NONBLOCK))
                }
            }
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
    }

    /// Returns the clients that connect, until the reader is cancelled, which frees the port. Only one reader is
    /// allowed.
    func clients() -> AsyncStream<Client> {
        let (clients, continuation) = AsyncStream.makeStream(of: Client.self)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler { [descriptor] in
            while case let accepted = accept(descriptor, nil, nil), accepted >= 0 {
                continuation.yield(Client(accepted))
            }
        }
        source.setCancelHandler { [descriptor] in close(descriptor) }
        source.activate()
        let held = Mutex<(any DispatchSourceRead)?>(source)
        continuation.onTermination = { _ in held.withLock { $0.take() }?.cancel() }
        return clients
    }

    /// Returns the address of a port on this machine.
    static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    #if canImport(Darwin)
        static let streams = SOCK_STREAM
    #else
        static let streams = Int32(SOCK_STREAM.rawValue)
    #endif

    /// - Throws: `POSIXError` if a system call failed.
    @discardableResult
    static func check(_ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return result
    }
}
