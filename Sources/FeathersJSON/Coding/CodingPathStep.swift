/// One step from a value to one inside it; becomes a `CodingKey` only when an error has to name it.
enum CodingPathStep {
    /// The outermost value, which no step leads to.
    case root
    case key(any CodingKey)
    case index(Int)

    /// The step as a coding key, nil for the outermost value.
    var codingKey: (any CodingKey)? {
        switch self {
        case .root: nil
        case .key(let key): key
        case .index(let index): JSONKey(intValue: index)
        }
    }
}

/// A coding key of any name or index.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    /// The key under which a class keeps what its superclass encodes.
    static let parent = JSONKey(stringValue: "super")
}
