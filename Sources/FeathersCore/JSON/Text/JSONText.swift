/// A JSON text that has been checked, with marks of where its values stand: as good as its tree where it is read once, and cheaper to make.
///
// Unchecked for the pointers: their memory is written before the initializer returns and never again, so that any task may read it; it is freed
// with the last reference.
package final class JSONText: @unchecked Sendable {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private let marks: UnsafeMutableBufferPointer<JSONMark>
    private let tree = Locked<JSONValue?>(nil)

    /// Marks a text.
    /// - Returns: nil where its tree serves better: for objects with repeated, escaped or very many keys.
    /// - Throws: `JSONParsingError`, as ``JSONValue/init(parsing:maximumDepth:)-(Collection<UInt8>,_)`` does.
    package static func marking(_ bytes: [UInt8]) throws(JSONParsingError) -> JSONText? {
        try bytes.withUnsafeBufferPointer { bytes throws(JSONParsingError) in try marking(bytes) }
    }

    package static func marking(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONParsingError) -> JSONText? {
        try JSONMarker.marks(of: bytes, maximumDepth: JSONValue.defaultMaximumDepth).map { JSONText(copying: bytes, $0) }
    }

    private init(copying source: UnsafeBufferPointer<UInt8>, _ marks: UnsafeMutableBufferPointer<JSONMark>) {
        self.marks = marks
        bytes = .allocate(capacity: source.count)
        _ = bytes.initialize(from: source)
    }

    deinit {
        bytes.deallocate()
        marks.deallocate()
    }

    /// The outermost value; it must not be used once the text is gone.
    var root: JSONPlace {
        // A text that has been marked has a value, and therefore bytes.
        JSONPlace(mark: UnsafePointer(marks.baseAddress.unsafelyUnwrapped), bytes: UnsafePointer(bytes.baseAddress.unsafelyUnwrapped))
    }

    /// The text's tree, read the first time somebody asks for it.
    package var json: JSONValue {
        if let tree = tree.withLock({ $0 }) { return tree }
        // From the text, which is quicker than from the marks; it was found to be good. Outside the lock, so that nobody waits for it long.
        let read = (try? JSONValue(parsing: bytes)) ?? .null
        return tree.withLock { tree in
            if tree == nil { tree = read }
            return tree ?? read
        }
    }
}
