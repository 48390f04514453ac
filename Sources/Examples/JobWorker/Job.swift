import Feathers

/// Something to do, as the server keeps it.
struct Job: Codable, Queryable {
    enum State: String, Codable, Sendable, CaseIterable, QueryValue {
        case open, claimed, done, failed
    }

    var id: Int?
    var queue: String
    var text: String
    var state = State.open
    /// Who has claimed it.
    var worker: String?

    enum CodingKeys: String, CodingKey { case id, queue, text, state, worker }
}
