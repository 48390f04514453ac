import FeathersCore

/// What an answer is kept under: everything it depends on, as text that is the same in every process.
public struct CacheKey: Sendable, Hashable {
    /// What the answer depends on, in canonical JSON. Credentials stand in it as digests.
    public let text: String

    /// The group the answer belongs to.
    public let group: String

    /// A key; the parameters are the properties of the same names. A cache makes the keys of calls itself.
    public init(text: String, group: String) {
        self.text = text
        self.group = group
    }

    /// Equal when both are the same bytes: Swift takes a composed and a decomposed "é" for equal, a server need not.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.text.isExactly(right.text) && left.group.isExactly(right.group)
    }
}
