import FeathersCore

/// A parameter of a URL's query, not yet encoded: `filter[name]`, `Ada`.
public struct JSONAPIQueryItem: Hashable, Sendable {
    /// The parameter's whole name: `filter[name]`.
    public var name: String
    /// What it is set to.
    public var value: String

    /// A parameter with its value.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The parameter as it is sent. Commas in the value, which separate the elements of lists, stay readable.
    var encoded: String {
        let value = value.split(separator: ",", omittingEmptySubsequences: false).map { percentEncoded(component: String($0)) }
        return "\(percentEncoded(component: name))=\(value.joined(separator: ","))"
    }
}
