#if os(Linux)
    /// What serves one socket on the loop's thread, and is touched by no other.
    protocol SocketListener: AnyObject {
        var descriptor: Int32 { get }

        /// The socket changed: it may take bytes again, and perhaps has some.
        /// - Parameter isEnding: the peer will send no more, or the connection is broken.
        func changed(isReadable: Bool, isEnding: Bool, on thread: SocketLoopThread)

        /// Somebody left something, or it asked to be called again.
        func woken(on thread: SocketLoopThread)

        /// The deadline it set has come.
        func deadlinePassed(on thread: SocketLoopThread)

        /// The socket cannot be watched.
        func failed(on thread: SocketLoopThread)
    }
#endif
