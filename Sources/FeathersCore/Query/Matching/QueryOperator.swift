/// An operator beyond Feathers' own that a service allows and evaluates: one of FeathersJS' `operators` option.
public struct QueryOperator: Sendable {
    /// The operator as it stands in queries, for example `$regex`.
    public let name: String

    enum Evaluation: Sendable {
        case test(@Sendable (_ value: JSONValue?, _ operand: JSONValue) -> Bool)
        /// `$and` below the top level, which groups conditions instead of testing a value.
        case group
    }

    let evaluation: Evaluation

    private init(_ name: String, _ evaluation: Evaluation) {
        self.name = name
        self.evaluation = evaluation
    }

    /// An operator evaluated by a closure.
    ///
    /// - Parameters:
    ///   - name: The operator as it stands in queries, `$` included.
    ///   - matches: Gets the property's value (nil where it is missing; each element, then the whole, of an array) and
    ///     what the query gives the operator.
    public init(_ name: String, matches: @escaping @Sendable (_ value: JSONValue?, _ operand: JSONValue) -> Bool) {
        self.init(name, .test(matches))
    }

    /// `$exists`: whether the property is there, null counting as there.
    public static let exists = QueryOperator("$exists") { value, operand in (value != nil) == (operand.bool ?? true) }

    /// `$size`: how many elements the array has.
    public static let size = QueryOperator("$size") { value, operand in
        value?.array.map { Int64($0.count) == operand.integer } ?? false
    }

    /// `$and` inside `$or`, which FeathersJS refuses unless the service lists it.
    public static let nestedAnd = QueryOperator("$and", .group)
}
