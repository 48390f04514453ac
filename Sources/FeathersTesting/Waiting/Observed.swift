import Observation

/// Suspends until a condition on observable properties holds, observing them as a view does.
///
/// ```swift
/// async let _: Void = model.run()
/// try await observed { model.messages.map(\.text) == ["one", "two"] }
/// ```
///
/// The condition is checked immediately, and after each change of a property that it has read. Give the test a time
/// limit.
/// - Parameters:
///   - isolation: The actor of the properties; the caller's by default.
///   - condition: The condition. It must read at least one property of an `@Observable` class.
/// - Throws: `CancellationError` if the task is cancelled.
public func observed(isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool) async throws {
    while true {
        try Task.checkCancellation()
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        // `onChange` is called before the change. The task resumes on the actor, and therefore after the change.
        if withObservationTracking(condition, onChange: { continuation.finish() }) { return }
        for await _ in changes {}
    }
}

/// Collects the successive values of an expression of observable properties, until they meet a condition.
///
/// Changes that follow each other without a suspension are one change, as for a view. A value that equals the one
/// before it is left out.
/// - Parameters:
///   - isolation: The actor of the properties; the caller's by default.
///   - value: The expression of at least one property of an `@Observable` class.
///   - condition: The condition that the values collected so far must meet.
/// - Returns: The values in order, beginning with the present one.
/// - Throws: `CancellationError` if the task is cancelled.
public func observed<Value: Equatable>(
    isolation: isolated (any Actor)? = #isolation, _ value: () -> Value, until condition: ([Value]) -> Bool
) async throws -> [Value] {
    var values: [Value] = []
    try await observed(isolation: isolation) {
        let present = value()
        if values.last != present { values.append(present) }
        return condition(values)
    }
    return values
}

/// Collects the elements of a sequence, such as a live query or a stream of events, until they meet a condition.
/// - Parameters:
///   - sequence: The sequence.
///   - isolation: The actor on which the condition runs; the caller's by default.
///   - condition: The condition that the elements collected so far must meet.
/// - Returns: The elements in order. If the sequence ends before the condition holds, all of its elements.
/// - Throws: The error of the sequence, or `CancellationError` if the task is cancelled.
public func observed<Elements: AsyncSequence>(
    _ sequence: Elements, isolation: isolated (any Actor)? = #isolation, until condition: ([Elements.Element]) -> Bool
) async throws -> [Elements.Element] {
    var elements: [Elements.Element] = []
    var iterator = sequence.makeAsyncIterator()
    while let element = try await iterator.next(isolation: isolation) {
        elements.append(element)
        if condition(elements) { return elements }
    }
    try Task.checkCancellation()
    return elements
}
