extension DecodingNode {
    @inline(__always)
    func bool(from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> Bool {
        guard let bool = source.bool else { throw mismatch(Bool.self, source, at: step()) }
        return bool
    }

    @inline(__always)
    func string(from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> String {
        guard let string = source.string else { throw mismatch(String.self, source, at: step()) }
        return string
    }

    /// An integer, also where it was written as `1.0`.
    @inline(__always)
    func integer<T: FixedWidthInteger>(from source: DecodingSource, as type: T.Type, at step: @autoclosure () -> CodingPathStep) throws -> T
    {
        if let integer = source.integer, let exact = T(exactly: integer) { return exact }
        guard let value = source.scalar else { throw mismatch(type, source, at: step()) }
        return try integerOffTheFastPath(from: value, as: type, at: step())
    }

    private func integerOffTheFastPath<T: FixedWidthInteger>(
        from value: JSONValue, as type: T.Type, at step: CodingPathStep
    ) throws -> T {
        switch value {
        case .number(let number):
            // Beyond Int64 the digits that were read are already rounded, even where they seem to fit a UInt64.
            if let integer = Int64(exactly: number), let exact = T(exactly: integer) { return exact }
            throw corrupted("The number \(value) does not fit \(type).", at: step)
        case .integer:
            throw corrupted("The number \(value) does not fit \(type).", at: step)
        default:
            throw mismatch(type, .tree(value), at: step)
        }
    }

    @inline(__always)
    func double(from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> Double {
        if let number = source.number { return number }
        if let integer = source.integer { return Double(integer) }
        return try nonFinite(from: source, as: Double.self, at: step())
    }

    private func nonFinite<T: BinaryFloatingPoint>(from source: DecodingSource, as type: T.Type, at step: CodingPathStep) throws -> T {
        guard let number = source.scalar.flatMap(options.coding.nonConformingFloats.number) else { throw mismatch(type, source, at: step) }
        return T(number)
    }

    @inline(__always)
    func float(from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> Float {
        if let integer = source.integer { return Float(integer) }
        guard let number = source.number else { return try nonFinite(from: source, as: Float.self, at: step()) }
        let float = Float(number)
        guard float.isFinite || !number.isFinite else { throw corrupted("The number \(source.json) does not fit Float.", at: step()) }
        return float
    }

    /// Anything else: the types JSON treats specially, or a model that decodes itself.
    func decode<T: Decodable>(_ type: T.Type, from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> T {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: source, at: step()) }
        if type == [String].self, let strings = source.strings as? T { return strings }
        let node = DecodingNode(source: source, parent: self, step: step())
        if node.keys != nil, type is any DictionaryOfStrings.Type { node.keys = nil }
        return try T(from: node)
    }

    /// This node's own value as `type`, which needs no further node.
    func decodeWhole<T: Decodable>(_ type: T.Type) throws -> T {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: source, at: .root) }
        guard let keys, type is any DictionaryOfStrings.Type else { return try T(from: self) }
        self.keys = nil
        defer { self.keys = keys }
        return try T(from: self)
    }
}
