/// The limit on how much a compressed response may expand.
///
/// Records compress to a tenth or less, pure repetition to a thousandth. Only a response made to fill the receiver's
/// memory expands that much.
enum DecompressionLimit {
    /// The maximum number of decompressed bytes per transmitted byte.
    static let ratio: Int64 = 100
    /// The number of bytes that are always accepted. libcurl delivers far fewer before it counts them as transmitted.
    static let floor: Int64 = 4 << 20

    /// Returns whether `decompressed` bytes are acceptable for `transmitted` bytes received over the network.
    static func permits(_ decompressed: Int64, from transmitted: Int64) -> Bool {
        decompressed <= floor + ratio * transmitted
    }
}
