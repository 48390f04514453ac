import Feathers

/// The test backend's services as far as they need no server, made anew for each app.
enum LocalBackend {
    static func services() -> [String: any ServiceProtocol] {
        [
            "messages": MessagesService(),
            "todos": MemoryService(multi: .all),
            "single": MemoryService(startID: 1),
            "errors": ErrorsService(),
            "echo": EchoService(),
            "slow": SlowService(),
            "httpmeta": MetaService(),
            "teams/:teamId/members": MembersService(),
        ]
    }

    /// A memory service with the custom method `archive`.
    private actor MessagesService: ServiceProtocol {
        let records = MemoryService(startID: 1, multi: .all, pagination: Pagination(default: 10, max: 50))

        func respond(to request: ServiceRequest) async throws -> ServiceResponse {
            guard request.method == "archive" else { return try await records.respond(to: request) }
            guard let id = request.data?["id"].flatMap({ ServiceID($0) }) else {
                throw FeathersError(.badRequest, "archive needs an id")
            }
            return ServiceResponse(["archived": try await records.patch(id, with: ["archived": true], Params())])
        }
    }

    private actor ErrorsService: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
            guard let known = FeathersError.Code.classes.first(where: { $0.name == id.description }) else {
                throw FeathersError(.notFound, "No error is called '\(id)'")
            }
            throw FeathersError(
                known.code, "\(known.name) message",
                data: ["resource": "thing", "nested": ["n": 1, "list": [1, "two", nil]]],
                errors: ["email": "Email is taken", "count": ["min": 1]])
        }
    }

    private actor EchoService: ServiceProtocol {
        func respond(to request: ServiceRequest) async throws -> ServiceResponse {
            guard !request.method.isCustom || request.method == "shout" else {
                throw FeathersError.unsupported(request.method)
            }
            var answer: JSONObject = [
                "method": .string(request.method.rawValue), "query": .object(request.params.query.json),
            ]
            if let id = request.id { answer["id"] = id.json }
            if let data = request.data { answer["data"] = data }
            return ServiceResponse(.object(answer))
        }
    }

    private actor SlowService: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
            try await ContinuousClock().sleep(for: .milliseconds(Int(id.description) ?? 0))
            return ["id": id.json]
        }
    }

    private actor MetaService: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { .null }
    }

    private actor MembersService: ServiceProtocol {
        func find(_ params: Params) async throws -> JSONValue {
            ["route": .object(JSONObject(params.route.map { ($0, .string($1)) }))]
        }
    }
}
