/// One step from a value to one inside it. Converted to a `CodingKey` only when an error needs it.
enum CodingPathStep {
    /// The outermost value.
    case root
    case key(any CodingKey)
    case index(Int)

    /// The step as a coding key; nil for the outermost value.
    var codingKey: (any CodingKey)? {
        switch self {
        case .root: nil
        case .key(let key): key
        case .index(let index): JSONKey(intValue: index)
        }
    }
}

package struct JSONKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    package init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    package init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    /// The key for what a superclass encodes.
    static let parent = JSONKey(stringValue: "super")
}
