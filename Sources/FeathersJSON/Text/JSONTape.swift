import Synchronization

// Unchecked for the pointers: their memory is written before the initializer returns and never again, so that any task may read it; it is freed
// with the last reference.

/// A JSON text that has been checked, with a tape that says where its values are: as good as its tree where it is read once, and cheaper to make.
package final class JSONTape: @unchecked Sendable {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private let marks: UnsafeMutableBufferPointer<TapeEntry>
    private let tree = AtomicLazyReference<Tree>()

    private final class Tree: Sendable {
        let json: JSONValue
        init(_ json: JSONValue) { self.json = json }
    }

    /// Marks a text.
    /// - Returns: nil where its tree serves better: for objects with repeated, escaped or very many keys.
    /// - Throws: `JSONParsingError`, as ``JSONValue/init(parsing:maximumDepth:)-(Collection<UInt8>,_)`` does.
    package static func marking(_ bytes: [UInt8]) throws(JSONParsingError) -> JSONTape? {
        try bytes.withUnsafeBufferPointer { bytes throws(JSONParsingError) in try marking(bytes) }
    }

    package static func marking(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONParsingError) -> JSONTape? {
        try TapeWriter.marks(of: bytes, maximumDepth: JSONValue.defaultMaximumDepth).map { JSONTape(copying: bytes, $0) }
    }

    private init(copying source: UnsafeBufferPointer<UInt8>, _ marks: UnsafeMutableBufferPointer<TapeEntry>) {
        self.marks = marks
        bytes = .allocate(capacity: source.count)
        _ = bytes.initialize(from: source)
    }

    deinit {
        bytes.deallocate()
        marks.deallocate()
    }

    /// The outermost value; it must not be used once the text is gone.
    package var root: TapeCursor {
        // A text that has been marked has a value, and therefore bytes.
        TapeCursor(mark: UnsafePointer(marks.baseAddress.unsafelyUnwrapped), bytes: UnsafePointer(bytes.baseAddress.unsafelyUnwrapped))
    }

    /// The text's tree, built on first access. Of two trees built in a race, one wins.
    package var json: JSONValue {
        if let tree = tree.load() { return tree.json }
        // Parsed from the text, which is faster than walking the tape; the text is known to be valid.
        return tree.storeIfNil(Tree((try? JSONValue(parsing: bytes)) ?? .null)).json
    }
}
