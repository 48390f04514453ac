/// How much text a server may have kept in memory at one place, unless a setting says otherwise.
package enum TextLimit {
    /// The bytes of one answer or message, of the events that wait for one reader, and of the calls that wait for a connection.
    ///
    /// Far above what services answer with, since pages are hundreds of records. What is made of a text can be twenty times its size, so that a
    /// device survives this one and not much more.
    package static let standard = 16 << 20
}
