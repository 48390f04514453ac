import Feathers
import Foundation

/// A typed `find` whose server answers at once with a page of ten: what becomes of the text is what is measured.
enum ModelBenchmarks {
    private struct InstantClient: HTTPClient {
        let body: [UInt8]

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: 200, body: body, url: request.url) }
    }

    static func group() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("typed find, page of 10")
        let client = InstantClient(body: try JSONBenchmarks.pageOfTen())
        guard let url = URL(string: "http://localhost") else { throw URLError(.badURL) }
        func messages(_ hooks: Hooks = Hooks()) async -> TypedService<JSONBenchmarks.Message> {
            let service = FeathersApp(transport: .rest(url, httpClient: client)).service("messages")
            await service.addHooks(hooks)
            return TypedService(service)
        }
        let looking = await messages(Hooks(after: [{ context in if context.result == nil { context.result = .null } }]))
        let passing = await messages(Hooks(after: [{ _ in }]))
        let bare = await messages()
        group.add("the tree, then models", operations: 500) {
            for _ in 0..<500 {
                let page = try await Paginated(json: bare.untyped.find())
                _ = try page.map { try JSONValueDecoder().decode(JSONBenchmarks.Message.self, from: $0) }
            }
        }
        for (name, service) in [("a hook looks", looking), ("a hook does not look", passing), ("no hook", bare)] {
            group.add(name, operations: 500, comparedWith: "the tree, then models") {
                for _ in 0..<500 { _ = try await service.find() }
            }
        }
        return group
    }
}
