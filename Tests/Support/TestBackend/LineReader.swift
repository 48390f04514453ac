import Foundation

/// Lines as they arrive on a pipe.
struct LineReader: IteratorProtocol {
    let handle: FileHandle
    private var pending = Data()

    init(handle: FileHandle) {
        self.handle = handle
    }

    /// Waits for the next whole line; nil when the other side is gone.
    mutating func next() -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            guard let data = try? handle.nextBytes(), !data.isEmpty else { return nil }
            pending.append(data)
        }
    }
}
