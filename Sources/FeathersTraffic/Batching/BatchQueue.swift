import FeathersCore

/// Assigns calls to batches. A state machine without I/O.
///
/// The first member waits until the batch closes, takes the members and sends them. If it leaves early, the next member becomes the collector.
struct BatchQueue<Key: Hashable & Sendable, Member: Sendable>: Sendable {
    enum Joining: Sendable, Equatable {
        /// The call is the first member of this batch, and collects it.
        case opened(batch: Int)
        case joined(batch: Int)
        /// The call is the last member that fits: the batch closes immediately.
        case filled(batch: Int)
    }

    enum Departure: Sendable, Equatable {
        /// The call was not in an open batch.
        case none
        case left
        /// The call was the collector. The member with this id is the collector now.
        case handedOver(to: Int)
    }

    private struct Batch: Sendable {
        let key: Key
        let closingMoment: Duration
        var members: [(id: Int, member: Member)] = []
    }

    /// The maximum number of members in a batch.
    private let limit: Int
    /// How long a batch accepts more members.
    private let window: Duration
    private var batches: [Int: Batch] = [:]
    /// The batches that accept more members, by what their members have in common.
    private var open: [Key: Int] = [:]
    /// The batch of each member that has not been sent.
    private var memberships: [Int: Int] = [:]
    private var lastNumber = 0

    init(limit: Int, window: Duration) { (self.limit, self.window) = (limit, window) }

    var isEmpty: Bool { batches.isEmpty && open.isEmpty && memberships.isEmpty }

    mutating func join(_ id: Int, _ member: Member, _ key: Key, at now: Duration) -> Joining {
        if let number = open[key], batches[number] != nil {
            batches[number]?.members.append((id, member))
            memberships[id] = number
            guard batches[number]?.members.count ?? 0 >= limit else { return .joined(batch: number) }
            open[key] = nil
            return .filled(batch: number)
        }
        lastNumber += 1
        batches[lastNumber] = Batch(key: key, closingMoment: now + window, members: [(id, member)])
        memberships[id] = lastNumber
        if limit > 1 { open[key] = lastNumber }
        return .opened(batch: lastNumber)
    }

    /// Returns the latest time at which a batch closes; nil if it is full and closes now.
    func closingMoment(of number: Int) -> Duration? {
        guard let batch = batches[number], open[batch.key] == number else { return nil }
        return batch.closingMoment
    }

    /// Removes a batch and returns its members in the order they joined. The next call opens another batch.
    mutating func close(_ number: Int) -> [(id: Int, member: Member)] {
        guard let batch = batches.removeValue(forKey: number) else { return [] }
        if open[batch.key] == number { open[batch.key] = nil }
        for member in batch.members { memberships[member.id] = nil }
        return batch.members
    }

    /// Removes a member before its batch is sent.
    mutating func leave(_ id: Int) -> Departure {
        guard let number = memberships.removeValue(forKey: id), let batch = batches[number],
            let index = batch.members.firstIndex(where: { $0.id == id })
        else { return .none }
        guard batch.members.count > 1 else {
            _ = close(number)
            return .left
        }
        batches[number]?.members.remove(at: index)
        return index == 0 ? .handedOver(to: batch.members[1].id) : .left
    }
}

/// The properties that calls must share to be sent in one batch.
struct BatchKey: Hashable, Sendable {
    let sender: RequestSender?
    let headers: [String: String]
    let timeout: Duration?
}

/// A call as a member of a batch.
struct BatchedCall: Sendable {
    let arguments: JSONValue
    /// Whether the call can be sent again after the batch was abandoned.
    let isSafeToRepeat: Bool

    /// - Throws: ``FeathersError/Code/badRequest`` if the call cannot be encoded.
    init(_ request: ServiceRequest) throws(FeathersError) {
        arguments = try CallArguments.array(of: request)
        isSafeToRepeat = request.isSafeToRepeat
    }
}

/// The wire format of `feathers-batch`. Calls have the same form as over Socket.IO, and results the form of JavaScript's `Promise.allSettled`.
enum BatchWireForm {
    /// Returns the data for the `create` call to the batch service.
    static func data(of calls: [JSONValue]) -> JSONValue { ["calls": .array(calls)] }

    /// Returns the results, in the order of the calls.
    /// - Throws: ``FeathersError/Code/generalError`` if the response does not contain one result for each call.
    static func results(of answer: JSONValue, count: Int, from path: String) throws(FeathersError) -> [Result<ServiceResponse, any Error>] {
        guard let settled = answer.array, settled.count == count else {
            throw FeathersError(
                .generalError,
                "The batch service '\(path)' responded to \(count) calls with \(answer.array.map { "\($0.count) results" } ?? "no list")")
        }
        return settled.map { result in
            switch result["status"] {
            case "fulfilled": return .success(ServiceResponse(result["value"] ?? .null))
            case "rejected": return .failure(FeathersError(wire: result["reason"] ?? .null))
            default:
                return .failure(
                    FeathersError(.generalError, "The batch service '\(path)' responded to a call with neither 'fulfilled' nor 'rejected'"))
            }
        }
    }
}
