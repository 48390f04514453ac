extension JSONValue {
    /// The nesting depth beyond which the parser gives up, unless told otherwise.
    public static let defaultMaximumDepth = 512

    /// Reads a JSON text in UTF-8, exactly as RFC 8259 defines it.
    ///
    /// Integers that fit `Int64` become `.integer`, every other number the nearest `Double`. Of a repeated key the last value
    /// wins, at the place of the first, as in JavaScript. An escaped lone surrogate (`"\ud83d"`), which JavaScript can send and
    /// a Swift string cannot hold, becomes U+FFFD.
    ///
    /// - Parameters:
    ///   - bytes: The whole text, without a byte order mark.
    ///   - maximumDepth: How many arrays and objects may stand inside each other; values above 1024 count as 1024, since
    ///     deeper values could overflow a thread's stack when they are compared or freed.
    /// - Throws: `JSONParsingError` with the reason and the byte offset.
    public init(parsing bytes: some Collection<UInt8>, maximumDepth: Int = defaultMaximumDepth) throws(JSONParsingError) {
        let result = bytes.withContiguousStorageIfAvailable { buffer in
            Self.parse(UnsafeRawBufferPointer(buffer), maximumDepth: maximumDepth)
        }
        if let result {
            self = try result.get()
        } else {
            self = try Array(bytes).withUnsafeBytes { Self.parse($0, maximumDepth: maximumDepth) }.get()
        }
    }

    /// Reads a JSON text, as `init(parsing:maximumDepth:)` does from bytes; offsets count UTF-8 bytes.
    ///
    /// - Throws: `JSONParsingError` with the reason and the byte offset.
    public init(parsing text: String, maximumDepth: Int = defaultMaximumDepth) throws(JSONParsingError) {
        var text = text
        self = try text.withUTF8 { Self.parse(UnsafeRawBufferPointer($0), maximumDepth: maximumDepth) }.get()
    }

    /// Deeper values would risk the thread's stack when they are compared or freed.
    static let depthCeiling = 1024

    private static func parse(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) -> Result<JSONValue, JSONParsingError> {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            do throws(JSONParsingError) {
                return .success(try JSONTreeBuilder.tree(of: bytes, maximumDepth: maximumDepth))
            } catch {
                return .failure(error)
            }
        }
    }
}
