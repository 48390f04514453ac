/// How far a transfer is, in bytes of bodies. After a redirect it starts over.
public struct TransferProgress: Hashable, Sendable {
    /// Bytes handed to the network so far.
    public var sent: Int64
    /// Bytes to send in all.
    public var totalToSend: Int64
    /// Bytes received so far, after decompression.
    public var received: Int64
    /// Bytes to receive in all; nil until the server says so, and where it does not or compresses.
    public var totalToReceive: Int64?

    /// A step; the parameters are the properties of the same names.
    public init(sent: Int64 = 0, totalToSend: Int64 = 0, received: Int64 = 0, totalToReceive: Int64? = nil) {
        self.sent = sent
        self.totalToSend = totalToSend
        self.received = received
        self.totalToReceive = totalToReceive
    }

    /// What part of all bytes has moved, 0 to 1; of the upload alone until it is known how much will come.
    public var fraction: Double? {
        let total = totalToSend + (totalToReceive ?? 0)
        guard total > 0 else { return nil }
        return Double(sent + (totalToReceive == nil ? 0 : received)) / Double(total)
    }
}
