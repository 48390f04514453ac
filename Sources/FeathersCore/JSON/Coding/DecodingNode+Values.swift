extension DecodingNode {
    @inline(__always)
    func bool(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> Bool {
        guard case .bool(let bool) = value else { throw mismatch(Bool.self, value, at: step()) }
        return bool
    }

    @inline(__always)
    func string(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> String {
        guard case .string(let string) = value else { throw mismatch(String.self, value, at: step()) }
        return string
    }

    /// An integer, also where it was written as `1.0`.
    @inline(__always)
    func integer<T: FixedWidthInteger>(from value: JSONValue, as type: T.Type, at step: @autoclosure () -> CodingPathStep) throws -> T {
        if case .integer(let integer) = value, let exact = T(exactly: integer) { return exact }
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
            throw mismatch(type, value, at: step)
        }
    }

    @inline(__always)
    func double(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> Double {
        switch value {
        case .number(let number): return number
        case .integer(let integer): return Double(integer)
        default: return try nonFinite(from: value, as: Double.self, at: step())
        }
    }

    private func nonFinite<T: BinaryFloatingPoint>(from value: JSONValue, as type: T.Type, at step: CodingPathStep) throws -> T {
        guard let number = options.coding.nonConformingFloats.number(in: value) else { throw mismatch(type, value, at: step) }
        return T(number)
    }

    @inline(__always)
    func float(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> Float {
        switch value {
        case .integer(let integer): return Float(integer)
        case .number(let number):
            let float = Float(number)
            guard float.isFinite || !number.isFinite else { throw corrupted("The number \(value) does not fit Float.", at: step()) }
            return float
        default: return try nonFinite(from: value, as: Float.self, at: step())
        }
    }

    /// Anything else: the types JSON treats specially, or a model that decodes itself.
    func decode<T: Decodable>(_ type: T.Type, from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> T {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: value, at: step()) }
        let node = DecodingNode(value: value, parent: self, step: step())
        if node.keys != nil, type is any DictionaryOfStrings.Type { node.keys = nil }
        return try T(from: node)
    }

    /// This node's own value as `type`, which needs no further node.
    func decodeWhole<T: Decodable>(_ type: T.Type) throws -> T {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: value, at: .root) }
        guard let keys, type is any DictionaryOfStrings.Type else { return try T(from: self) }
        self.keys = nil
        defer { self.keys = keys }
        return try T(from: self)
    }
}
