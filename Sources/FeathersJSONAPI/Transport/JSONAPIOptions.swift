/// What a server's dialect of JSON:API is like, where the specification leaves the choice.
public struct JSONAPIOptions: Sendable {
    /// The types of resources by the paths of services; a path that is not named has the type of its last segment.
    public var types: [String: String]
    /// The names of properties that are relationships, by types of resources.
    ///
    /// It is needed for plain records alone, where null and an empty array do not show what they are; models know.
    public var relationships: [String: Set<String>]
    /// How conditions become query parameters.
    public var filters: FilterStrategy
    /// How pages are asked for.
    public var pages: PageStrategy
    /// The addresses of the extensions to require of every answer and to apply to every request.
    public var extensions: [String]
    /// The addresses of the profiles to ask for and to apply to every request.
    public var profiles: [String]
    /// The path of the Atomic Operations endpoint, often `operations`; nil where the server has none.
    public var operationsPath: String?
    /// Whether names of parameters of your own (`Query.parameter(_:_:)`) must be such as the specification leaves to implementations, so that no
    /// later version of it means something else by them; false for servers that want others.
    public var checksParameterNames: Bool
    /// Makes the id of a resource that is created without one; nil leaves it to the server, and so does an answer of nil.
    public var makeID: (@Sendable (_ type: String) -> String?)?

    /// Options; the parameters are the properties of the same names.
    public init(
        types: [String: String] = [:], relationships: [String: Set<String>] = [:], filters: FilterStrategy = .equality,
        pages: PageStrategy = .number, extensions: [String] = [], profiles: [String] = [], operationsPath: String? = nil,
        checksParameterNames: Bool = true, makeID: (@Sendable (_ type: String) -> String?)? = nil
    ) {
        self.types = types
        self.relationships = relationships
        self.filters = filters
        self.pages = pages
        self.extensions = extensions
        self.profiles = profiles
        self.operationsPath = operationsPath
        self.checksParameterNames = checksParameterNames
        self.makeID = makeID
    }

    func type(ofPath path: String) -> String {
        types[path] ?? path.split(separator: "/").last { !$0.hasPrefix(":") }.map(String.init) ?? path
    }
}
