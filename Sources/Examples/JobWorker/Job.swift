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
    /// The name of the worker that has claimed the job.
    var worker: String?
    /// Why the job has failed.
    var reason: String?

    enum CodingKeys: String, CodingKey { case id, queue, text, state, worker, reason }
}
