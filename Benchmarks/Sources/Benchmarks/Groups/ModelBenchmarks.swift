import Feathers
import Foundation

/// A `find` of a service with a model that receives a page of ten immediately, so that only processing the response is
/// measured.
enum ModelBenchmarks {
    struct InstantClient: HTTPClient {
        let body: [UInt8]

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(status: 200, body: body, url: request.url)
        }
    }

    static func group() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("typed find, page of 10")
        let looking = try messages()
        await looking.use(hooks: Hooks(after: [{ context in if context.result == nil { context.result = .null } }]))
        let watching = try messages()
        await watching.use(
            hooks: Hooks(around: [
                { context, next in
                    try await next(&context)
                    if context.result == nil { context.result = .null }
                }
            ]))
        let passing = try messages()
        await passing.use(hooks: Hooks(around: [{ context, next in try await next(&context) }]))
        let bare = try messages()
        group.add("a JSON tree, then models", operations: 500) {
            for _ in 0..<500 {
                let page = try await bare.json.find()
                _ = try page.map { try CodingOptions().decode(JSONBenchmarks.Message.self, from: $0) }
            }
        }
        for (name, service) in [
            ("after hook, result read", looking), ("around hook, result read", watching),
            ("around hook, result not read", passing),
            ("no hook", bare),
        ] {
            group.add(name, operations: 500, comparedWith: "a JSON tree, then models") {
                for _ in 0..<500 { _ = try await service.find() }
            }
        }
        return group
    }

    static func messages() throws -> Service<JSONBenchmarks.Message> {
        guard let url = URL(string: "http://localhost") else { throw URLError(.badURL) }
        return FeathersApp(transport: .rest(url, httpClient: InstantClient(body: try JSONBenchmarks.pageOfTen())))
            .service("messages", of: JSONBenchmarks.Message.self)
    }
}
