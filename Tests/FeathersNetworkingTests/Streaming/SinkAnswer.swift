import FeathersNetworking
import Foundation
import TestBackend

/// What `/__sink` of the script server tells of a body it was sent.
struct SinkAnswer: Decodable {
    let sha256: String
    let length: Int
    let headers: [[String]]

    static func url() async throws -> URL {
        try await TestBackend.scriptServer().appending(path: "__sink")
    }

    init(_ response: HTTPResponse) throws {
        self = try JSONDecoder().decode(SinkAnswer.self, from: Data(response.body))
    }

    func header(_ name: String) -> String? {
        headers.first { $0[0].lowercased() == name.lowercased() }?[1]
    }
}
