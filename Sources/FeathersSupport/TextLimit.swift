/// The default limits on the text from a server that is held in memory in one place.
package enum TextLimit {
    /// The limit in bytes for a response or message, for the buffered events of one reader, and for the calls that wait
    /// for a connection.
    ///
    /// It is far above the size of usual responses, since pages have hundreds of records. Objects parsed from a text
    /// can need twenty times its size, which a device can handle at this limit, but not much above it.
    package static let standard = 16 << 20
}
