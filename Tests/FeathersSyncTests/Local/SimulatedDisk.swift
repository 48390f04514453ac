import FeathersSupport

/// A disk that forgets in a power failure what was not synchronized, and can stop at any call.
final class SimulatedDisk: FileReplacing {
    struct State: Sendable {
        var files: [Int: Contents] = [:]
        var names: [String: Int] = [:]
        var durableNames: [String: Int] = [:]
        /// How many more calls are made before all fail.
        var callsLeft = Int.max
        var calls = 0
    }

    struct Contents: Sendable {
        var bytes: [UInt8] = []
        var durable: [UInt8] = []
    }

    struct PowerFailure: Error {}

    let state: Locked<State>

    init(_ state: State = State()) { self.state = Locked(state) }

    func bytes(of name: String) -> [UInt8]? {
        state.withLock { state in state.names[name].flatMap { state.files[$0]?.bytes } }
    }

    /// The disk as it is found after a power failure.
    /// - Parameter keepsWrites: whether what was written and not synchronized happens to be there nevertheless.
    func afterPowerFailure(keepsWrites: Bool) -> SimulatedDisk {
        let state = state.withLock { $0 }
        let names = keepsWrites ? state.names : state.durableNames
        let files = state.files.mapValues { file in
            let bytes = keepsWrites ? file.bytes : file.durable
            return Contents(bytes: bytes, durable: bytes)
        }
        return SimulatedDisk(State(files: files, names: names, durableNames: names))
    }

    /// The disk as it is found after a power failure in the middle of every write that was not synchronized.
    func afterTornWrites() -> SimulatedDisk {
        let state = state.withLock { $0 }
        let files = state.files.mapValues { file in
            let length = file.durable.count + max(file.bytes.count - file.durable.count, 0) / 2
            let bytes = Array(file.bytes.prefix(length))
            return Contents(bytes: bytes, durable: bytes)
        }
        return SimulatedDisk(State(files: files, names: state.names, durableNames: state.names))
    }

    private func call<Result: Sendable>(_ body: (inout State) -> Result) throws -> Result {
        try state.withLock { state in
            guard state.callsLeft > 0 else { throw PowerFailure() }
            state.callsLeft -= 1
            state.calls += 1
            return body(&state)
        }
    }

    func create(_ name: String) throws -> Int {
        try call { state in
            let number = state.files.count
            state.files[number] = Contents()
            state.names[name] = number
            return number
        }
    }

    func write(_ bytes: [UInt8], to file: Int) throws { try call { $0.files[file]?.bytes = bytes } }
    func synchronize(_ file: Int) throws {
        try call { state in
            let bytes = state.files[file]?.bytes ?? []
            state.files[file]?.durable = bytes
        }
    }
    func rename(_ name: String, to newName: String) throws {
        try call { $0.names[newName] = $0.names.removeValue(forKey: name) }
    }
    func discard(_ name: String) throws { try call { $0.names[name] = nil } }
    func synchronize() throws { try call { $0.durableNames = $0.names } }
}
