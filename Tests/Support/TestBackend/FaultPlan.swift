/// What a ``FaultProxy`` does to the connections through it, each direction for itself.
///
/// See `Tests/Support/Backend/backend/faults.py` for the meaning of every member.
public struct FaultPlan: Encodable, Sendable {
    public var toServer = Direction()
    public var toClient = Direction()

    public init() {}

    /// No faults but what `change` adds.
    public init(_ change: (inout FaultPlan) -> Void) {
        change(&self)
    }

    /// What happens to one side's bytes.
    public struct Direction: Encodable, Sendable {
        /// Milliseconds before every write.
        public var delayMs: ClosedRange<Int>?
        /// What came is written in pieces of such sizes.
        public var splitBytes: ClosedRange<Int>?
        /// Milliseconds to wait for more, to be written at once.
        public var mergeMs: Int?
        /// Reads no faster than this.
        public var bytesPerSecond: Int?
        public var faults: [Fault] = []

        public init() {}

        private enum CodingKeys: CodingKey { case delayMs, splitBytes, mergeMs, bytesPerSecond, faults }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(delayMs.map { [$0.lowerBound, $0.upperBound] }, forKey: .delayMs)
            try container.encodeIfPresent(splitBytes.map { [$0.lowerBound, $0.upperBound] }, forKey: .splitBytes)
            try container.encodeIfPresent(mergeMs, forKey: .mergeMs)
            try container.encodeIfPresent(bytesPerSecond, forKey: .bytesPerSecond)
            try container.encode(faults, forKey: .faults)
        }
    }
}

/// Something that happens to a connection, so many bytes or milliseconds after its begin.
public struct Fault: Encodable, Sendable {
    public enum Kind: String, Encodable, Sendable {
        /// Both sides see the other's end.
        case cut
        /// Both sides see a TCP reset.
        case reset
        /// Ends as a cut does, in the midst of what came.
        case truncate
        /// Forwards nothing; both sockets stay open.
        case stall
        /// Turns the highest bit of a byte, which no text survives unnoticed.
        case corrupt
    }

    /// When it happens, drawn from the range for every connection.
    public enum Moment: Sendable {
        case afterBytes(ClosedRange<Int>)
        case afterMs(ClosedRange<Int>)
    }

    public let kind: Kind
    public let moment: Moment
    /// How likely it is to happen to a connection at all.
    public var chance: Double
    /// Whether it happens again, as far from the last time.
    public var repeats: Bool
    /// How many milliseconds a stall lasts; nil for ever.
    public var forMs: Int?

    public init(_ kind: Kind, _ moment: Moment, chance: Double = 1, repeats: Bool = false, forMs: Int? = nil) {
        self.kind = kind
        self.moment = moment
        self.chance = chance
        self.repeats = repeats
        self.forMs = forMs
    }

    private enum CodingKeys: CodingKey { case kind, afterBytes, afterMs, chance, repeats, forMs }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        switch moment {
        case .afterBytes(let range): try container.encode([range.lowerBound, range.upperBound], forKey: .afterBytes)
        case .afterMs(let range): try container.encode([range.lowerBound, range.upperBound], forKey: .afterMs)
        }
        try container.encode(chance, forKey: .chance)
        try container.encode(repeats, forKey: .repeats)
        try container.encodeIfPresent(forMs, forKey: .forMs)
    }
}
