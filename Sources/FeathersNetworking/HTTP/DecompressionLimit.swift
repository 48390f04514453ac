/// How much larger than its transmission an answer may become when it is decompressed.
///
/// Records shrink to a tenth or less, compressed repetition to a thousandth: what grows like that is made to fill the receiver.
enum DecompressionLimit {
    /// How many bytes one that came over the network may become.
    static let ratio: Int64 = 100
    /// As many bytes are taken in any case. Much more than what libcurl has not counted yet while it hands out the first of them.
    static let floor: Int64 = 4 << 20

    /// - Parameters:
    ///   - decompressed: how many bytes there are by now.
    ///   - transmitted: how many came over the network for them.
    static func permits(_ decompressed: Int64, from transmitted: Int64) -> Bool { decompressed <= floor + ratio * transmitted }
}
