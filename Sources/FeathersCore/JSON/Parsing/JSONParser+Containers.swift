/// An array or object whose end has not been read yet.
struct OpenContainer {
    enum Kind {
        /// The place around the outermost value.
        case none
        case array
        case object
    }

    let kind: Kind
    /// Where this container's values begin on the parser's stack.
    let firstValue: Int
    let firstKey: Int
    /// One bit for each hash seen, so that most keys are known to be new without a look at the others.
    var seenKeys: UInt64 = 0
    var hasRepeatedKeys = false
}

/// An object's key and a hash of its bytes.
struct ParsedKey {
    let string: String
    let hash: UInt64
}

extension JSONParser {
    /// Consumes the opening bracket and returns the container that begins there.
    @inline(__always)
    mutating func open(_ kind: OpenContainer.Kind, inside outer: OpenContainer) throws(JSONParsingError) -> OpenContainer {
        guard openContainers.count < maximumDepth else { throw failure(.nestedTooDeeply(limit: maximumDepth), at: cursor) }
        cursor += 1
        openContainers.push(outer)
        return OpenContainer(kind: kind, firstValue: values.count, firstKey: keys.count)
    }

    /// Ends the innermost container and returns the one around it.
    @inline(__always)
    mutating func close() -> OpenContainer {
        openContainers.giveUp(from: openContainers.count - 1).move()
    }

    mutating func takeArray(of container: OpenContainer) -> [JSONValue] {
        let count = values.count - container.firstValue
        let source = values.giveUp(from: container.firstValue)
        var array: [JSONValue] = []
        array.reserveCapacity(count)
        for index in 0..<count { array.append((source + index).move()) }
        return array
    }

    mutating func takeObject(of container: OpenContainer) -> JSONObject {
        let count = values.count - container.firstValue
        let sourceValues = values.giveUp(from: container.firstValue)
        let sourceKeys = keys.giveUp(from: container.firstKey)
        var entries: [JSONObject.Entry] = []
        entries.reserveCapacity(count)
        for index in 0..<count {
            entries.append(JSONObject.Entry(key: (sourceKeys + index).move().string, value: (sourceValues + index).move()))
        }
        let isUnique = count <= JSONObject.indexingThreshold && !container.hasRepeatedKeys
        return isUnique ? JSONObject(uniqueEntries: entries) : JSONObject(mergingEntries: entries)
    }

    /// Reads a key and the colon after it.
    mutating func parseKey(in container: inout OpenContainer) throws(JSONParsingError) {
        let byte = try nextSignificantByte()
        guard byte == UInt8(ascii: "\"") else { throw failure(.unexpectedByte(byte), at: cursor) }
        cursor += 1
        let key = try parseKeyString()
        noteKey(key, in: &container)
        keys.push(key)
        let separator = try nextSignificantByte()
        guard separator == UInt8(ascii: ":") else { throw failure(.unexpectedByte(separator), at: cursor) }
        cursor += 1
    }

    /// Finds out whether a small object has this key already; large ones are checked while they are indexed.
    @inline(__always)
    private func noteKey(_ key: ParsedKey, in container: inout OpenContainer) {
        let bit: UInt64 = 1 << (key.hash >> 58)
        guard container.seenKeys & bit != 0 else {
            container.seenKeys |= bit
            return
        }
        guard keys.count - container.firstKey <= JSONObject.indexingThreshold else { return }
        for index in container.firstKey..<keys.count {
            let other = keys.peek(index)
            if other.hash == key.hash, other.string.isExactly(key.string) { container.hasRepeatedKeys = true }
        }
    }
}
