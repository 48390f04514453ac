import FeathersCore

/// What calls must have in common to go out in one batch.
struct BatchKey: Hashable, Sendable {
    let appID: ObjectIdentifier
    let partition: CachePartition?
    let headers: [String: String]
    let timeout: Duration?
}

/// A call as a member of a batch.
struct BatchedCall: Sendable {
    let arguments: JSONValue
    /// Whether it may be made again after the batch was given up.
    let isSafeToRepeat: Bool

    /// - Throws: ``FeathersError/Code/badRequest`` where it cannot be written.
    init(_ request: ServiceRequest) throws(FeathersError) {
        arguments = try CallArguments.array(of: request)
        isSafeToRepeat = request.isSafeToRepeat
    }
}
