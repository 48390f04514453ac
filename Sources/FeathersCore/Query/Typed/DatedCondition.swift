import Foundation

/// A condition, and the dates in it.
struct DatedCondition: Sendable {
    /// The condition with its dates as JavaScript writes them.
    let untyped: Query.Condition
    /// The dates it compares with, which are written as the service writes dates; nil where it compares with anything else.
    let dates: [Date]?

    /// The condition for a service that codes its models in this way.
    /// - Throws: ``FeathersError/Code/badRequest`` naming the model where a date cannot be written so.
    func written(with options: CodingOptions, for model: Any.Type) throws(FeathersError) -> Query.Condition {
        guard let dates else { return untyped }
        if case .iso8601 = options.dates { return untyped }
        do {
            let written = try dates.map { try options.encode($0) }
            let value = if case .array = untyped.value { JSONValue.array(written) } else { written.first ?? .null }
            return untyped.operator.map { .custom($0, value) } ?? .equals(value)
        } catch {
            throw FeathersError(
                .badRequest, "A date of a query for \(model) cannot be written as its service writes dates", execution: .neverSent)
        }
    }
}
