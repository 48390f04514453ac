public import Foundation

extension FileHandle {
    /// Waits for bytes on a pipe, as many as have come; empty when the other side is gone.
    ///
    /// Foundation's `availableData` ends the process where a signal interrupts it.
    public func nextBytes() throws -> Data {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = systemRead(fileDescriptor, &buffer, buffer.count)
            if count >= 0 { return Data(buffer[..<count]) }
            guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
    }

    /// Waits for everything the other side writes until it goes.
    func bytesToEnd() throws -> Data {
        var all = Data()
        while case let bytes = try nextBytes(), !bytes.isEmpty { all.append(bytes) }
        return all
    }
}

/// The system's call, which `FileHandle` has a method of the same name in front of.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
