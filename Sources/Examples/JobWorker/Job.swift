import Feathers

/// A job, as stored on the server.
struct Job: Codable, Queryable {
    enum State: String, Codable, Sendable, CaseIterable, QueryValue {
        case open, claimed, done, failed
    }

    var id: Int?
    var queue: String
    var text: String
    var state = State.open
    /// The unique name of the process that has claimed the job.
    var worker: String?
    /// The end of the lease, in milliseconds since 1970. After it, another worker may claim the job.
    var leaseEnd: Int?
    /// Why the job has failed.
    var reason: String?

    enum CodingKeys: String, CodingKey { case id, queue, text, state, worker, leaseEnd, reason }
}
