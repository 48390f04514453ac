import Foundation

/// An open file of the system, closed when it goes out of scope.
struct OpenFile: ~Copyable {
    let descriptor: Int32

    /// - Throws: ``DiskCacheError`` where it cannot be opened.
    init(_ path: String, _ flags: Int32) throws {
        descriptor = open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DiskCacheError("open", errno) }
    }

    /// - Parameter absence: the error number of what counts as no file: the result is nil then.
    init?(_ path: String, _ flags: Int32, orNil absence: Int32) throws {
        do {
            try self.init(path, flags)
        } catch let error as DiskCacheError where error.number == absence {
            return nil
        }
    }

    /// A new, empty file.
    init(creating path: String) throws {
        try self.init(path, O_WRONLY | O_CREAT | O_TRUNC)
    }

    deinit { close(descriptor) }

    /// All bytes from the beginning, or so many of them.
    func read(upTo limit: Int?) throws -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw DiskCacheError("fstat", errno) }
        let size = min(Int(status.st_size), limit ?? .max)
        // An array without capacity is one that all share, where even a count of 0 must not be written.
        guard size > 0 else { return [] }
        var failure: Int32?
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let got = pread(descriptor, buffer.baseAddress?.advanced(by: count), size - count, off_t(count))
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { return }
                count += got
            }
        }
        if let failure { throw DiskCacheError("read", failure) }
        return bytes
    }

    /// Writes bytes at the beginning.
    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let count = pwrite(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written, off_t(written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw DiskCacheError("write", errno) }
                written += count
            }
        }
    }

    /// Waits until the bytes are on the disk.
    func synchronize() throws {
        #if canImport(Darwin)
            // There fsync leaves the bytes in the drive's own memory; where this is not known, it is the best there is.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw DiskCacheError("fsync", errno) }
    }

    /// Makes now the time of the file's last change, which stands for its last use, unless that was within the last minute: a change
    /// of it costs more than reading a small file. A failure costs the order of use, no more.
    func noteUse() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var status = stat()
        guard fstat(descriptor, &status) == 0, abs(now.tv_sec - status.lastChange.tv_sec) >= 60 else { return }
        _ = futimens(descriptor, [now, now])
    }
}

extension stat {
    /// When the file's bytes, or its time, were last changed.
    var lastChange: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }
}
