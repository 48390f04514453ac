/// What waits to be posted, and the packing of it into requests (Engine.IO 4, "maxPayload").
struct PollingQueue: Sendable {
    /// More packets in a body are refused by servers (python-engineio).
    static let maximumPackets = 16

    private var frames: [EngineFrame] = []
    private let maxPayload: Int

    init(maxPayload: Int) {
        self.maxPayload = maxPayload
    }

    var isEmpty: Bool { frames.isEmpty }

    mutating func append(contentsOf new: [EngineFrame]) {
        frames += new
    }

    /// Takes what one body holds: as many packets as fit, a packet that is too large by itself alone.
    mutating func takeBatch() -> [EngineFrame] {
        var size = 0
        var count = 0
        for frame in frames.prefix(Self.maximumPackets) {
            let added = frame.pollingSize + (count > 0 ? 1 : 0)
            if count > 0, size + added > maxPayload { break }
            size += added
            count += 1
        }
        defer { frames.removeFirst(count) }
        return Array(frames.prefix(count))
    }

    /// Puts a batch back that was never sent.
    mutating func putBack(_ batch: [EngineFrame]) {
        frames.insert(contentsOf: batch, at: 0)
    }

    /// Takes everything.
    mutating func takeAll() -> [EngineFrame] {
        defer { frames = [] }
        return frames
    }
}
