// expect: type 'Books' does not conform to protocol 'TypedServiceProtocol'
// article: Services.md
import Feathers

struct Book: Codable, Sendable {
    var title: String
}

actor Books: TypedServiceProtocol {
    // fix: func get(_ id: ServiceID, _ params: Params) async throws -> Book {
    func get(id: ServiceID, _ params: Params) async throws -> Book {
        Book(title: "\(id)")
    }
}
