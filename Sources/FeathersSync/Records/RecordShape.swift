public import FeathersCore

extension FeathersApp {
    /// The paths of services that respond to `create`, `update`, `patch` and `remove` with something other than the record: a
    /// number, a list, or the record in an envelope.
    ///
    /// From any other service, the outbox and drafts take only the record, an object with its id, or an empty response.
    /// Whatever else arrives, for example from the sign-in page of a network, says nothing about the write, which may
    /// have been executed. For a service in this set, the outbox takes every response, and ``Draft/save()`` reads the
    /// record again.
    public var servicesWithOtherResponses: Set<String> {
        get { self[OtherResponses.self] ?? [] }
        set { self[OtherResponses.self] = Set(newValue.map { FeathersApp.stripSlashes($0) }) }
    }

    private enum OtherResponses: AppSetting { typealias Value = Set<String> }
}

extension JSONValue {
    /// Whether this is a record: an object whose id, in one of these properties, is text or a number.
    func isRecord(_ properties: [String]) -> Bool {
        guard case .object(let object) = self else { return false }
        return properties.contains { object[$0].flatMap { ServiceID($0) } != nil }
            // JSON:API needn't return what it has stored. Its transport has checked the document.
            || object["@document"]?["isSent"]?.bool == true
    }
}

extension ServiceRequest {
    /// Checks that a response is one of this request's service: the record, or for a write nothing; for an array of
    /// creations, an array of as many records.
    /// - Parameters:
    ///   - result: The result without its envelope.
    ///   - properties: The names that the records' id property may have.
    /// - Throws: ``FeathersError/Code/unavailable``: a response of another shape says nothing about the call.
    func checkRecord(in result: JSONValue, _ properties: [String]) throws(FeathersError) {
        let isRight =
            switch method {
            case .find, .custom: true
            case .get: result.isRecord(properties)
            case .create where data?.array != nil:
                result.isNull
                    || result.array?.count == data?.array?.count
                        && result.array?.allSatisfy { $0.isRecord(properties) } == true
            case .create, .update, .patch, .remove: result.isNull || result.isRecord(properties)
            }
        guard !isRight else { return }
        let what = method == .get ? "" : ": if the service responds so, add its path to 'servicesWithOtherResponses'"
        throw FeathersError(
            .unavailable,
            "The response to '\(method)' on service '\(path)' is not a record with '\(properties[0])'\(what)",
            execution: .mayHaveExecuted)
    }
}
