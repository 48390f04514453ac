#if os(Linux)
    /// An open connection that carries bytes. It closes with its last reference.
    ///
    /// One thread at a time may call it; whoever shares it holds a lock.
    protocol ByteStream: AnyObject, Sendable {
        /// What to watch for readiness.
        var descriptor: Int32 { get }
        /// Whether bytes may wait above the socket, where watching it does not show them: then reading goes on until nothing is left.
        var holdsBytes: Bool { get }
        /// Reads what has arrived.
        func read(into buffer: UnsafeMutableRawBufferPointer) -> ByteStreamProgress
        /// Writes what the connection takes now.
        func write(_ bytes: UnsafeRawBufferPointer) -> ByteStreamProgress
    }

    enum ByteStreamProgress: Sendable, Equatable {
        case bytes(Int)
        /// Nothing can be done before the socket is ready again.
        case wouldBlock
        /// The peer sends no more.
        case ended
        case failed(String)
    }
#endif
