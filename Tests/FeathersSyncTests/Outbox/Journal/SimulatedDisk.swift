import FeathersCore
import FeathersSupport

@testable import FeathersSync

/// A disk that forgets in a power failure what was not synchronized, can be full, and can stop at any call.
final class SimulatedDisk: JournalDisk {
    struct State: Sendable {
        var files: [Int: Contents] = [:]
        var names: [String: Int] = [:]
        var durableNames: [String: Int] = [:]
        var isLocked = false
        /// How many more bytes there is room for.
        var room = 1 << 40
        /// How many more calls are made before all fail.
        var callsLeft = Int.max
        var calls = 0
        /// Whether files can not be synchronized, or not be cut.
        var failsSynchronizing = false
        var failsTruncating = false
        /// Called when bytes are synchronized.
        var onSynchronizing: @Sendable () -> Void = {}
    }

    struct Contents: Sendable {
        var bytes: [UInt8] = []
        var durable: [UInt8] = []
    }

    let state: Locked<State>

    init(_ state: State = State()) {
        self.state = Locked(state)
    }

    /// A disk with one file.
    convenience init(_ name: String, _ bytes: [UInt8]) {
        self.init(State(files: [0: Contents(bytes: bytes, durable: bytes)], names: [name: 0], durableNames: [name: 0]))
    }

    func bytes(of name: String) -> [UInt8]? {
        state.withLock { state in state.names[name].flatMap { state.files[$0]?.bytes } }
    }

    /// The disk as it is found after a power failure.
    /// - Parameter keepsWrites: whether what was written and not synchronized happens to be there all the same.
    func afterPowerFailure(keepsWrites: Bool) -> SimulatedDisk {
        let state = state.withLock { $0 }
        let names = keepsWrites ? state.names : state.durableNames
        let files = state.files.mapValues { file in
            let bytes = keepsWrites ? file.bytes : file.durable
            return Contents(bytes: bytes, durable: bytes)
        }
        return SimulatedDisk(State(files: files, names: names, durableNames: names))
    }

    /// The disk as it is found after a power failure that came in the middle of every write that was not synchronized.
    func afterTornWrites() -> SimulatedDisk {
        let state = state.withLock { $0 }
        let files = state.files.mapValues { file in
            let length = file.durable.count + max(file.bytes.count - file.durable.count, 0) / 2
            let bytes = Array(file.bytes.prefix(length))
            return Contents(bytes: bytes, durable: bytes)
        }
        return SimulatedDisk(State(files: files, names: state.names, durableNames: state.names))
    }

    fileprivate func call<Result: Sendable>(_ body: (inout State) throws -> Result) throws -> Result {
        try state.withLock { state in
            guard state.callsLeft > 0 else { throw JournalDiskError(description: "the power is off") }
            state.callsLeft -= 1
            state.calls += 1
            return try body(&state)
        }
    }

    func lock() throws {
        try call { state in
            if state.isLocked { throw JournalDiskError(description: "another outbox uses it") }
            state.isLocked = true
        }
    }

    func unlock() { state.withLock { $0.isLocked = false } }

    func read(_ name: String) throws -> [UInt8]? {
        try call { state in state.names[name].flatMap { state.files[$0]?.bytes } }
    }

    func create(_ name: String) throws -> any JournalFile {
        try call { state in
            let number = state.files.count
            state.files[number] = Contents()
            state.names[name] = number
            return SimulatedFile(disk: self, number: number)
        }
    }

    func open(_ name: String) throws -> any JournalFile {
        try call { state in
            guard let number = state.names[name] else { throw JournalDiskError(description: "no such file") }
            return SimulatedFile(disk: self, number: number)
        }
    }

    func rename(_ name: String, to newName: String) throws {
        try call { $0.names[newName] = $0.names.removeValue(forKey: name) }
    }

    func remove(_ name: String) throws {
        try call { $0.names[name] = nil }
    }

    func synchronize() throws {
        try call { $0.durableNames = $0.names }
    }

    private struct SimulatedFile: JournalFile {
        let disk: SimulatedDisk
        let number: Int

        func write(_ bytes: [UInt8], at offset: Int) throws {
            try disk.call { state in
                let fitting = min(bytes.count, state.room)
                state.files[number]?.bytes.replaceSubrange(offset..., with: bytes[..<fitting])
                state.room -= fitting
                if fitting < bytes.count { throw JournalDiskError(description: "No space left on device") }
            }
        }

        func truncate(to length: Int) throws {
            try disk.call { state in
                if state.failsTruncating { throw JournalDiskError(description: "Input/output error") }
                let bytes = state.files[number]?.bytes ?? []
                state.room += bytes.count - length
                state.files[number]?.bytes = Array(bytes[..<length])
            }
        }

        func synchronize() throws {
            try disk.call { state in
                state.onSynchronizing()
                if state.failsSynchronizing { throw JournalDiskError(description: "Input/output error") }
                let bytes = state.files[number]?.bytes ?? []
                state.files[number]?.durable = bytes
            }
        }
    }
}

extension SimulatedDisk: FileReplacing {
    func write(_ bytes: [UInt8], to file: any JournalFile) throws { try file.write(bytes, at: 0) }
    func synchronize(_ file: any JournalFile) throws { try file.synchronize() }
    func discard(_ name: String) throws { try remove(name) }
}
