import Feathers

// The samples of the article about errors, each one as it stands there: `ReadmeTests` compares them.

private nonisolated struct Message: Codable, Sendable {
    var text: String
}

func skipsRecords(_ app: FeathersApp) async throws -> Int {
    var params = Params()
    params.skipsUndecodableRecords = true
    let page = try await app.service("messages", of: Message.self).find(params: params)
    return page.count
}

/// - Returns: what it said.
func handles(_ messages: Service<JSONValue>, _ say: (String) -> Void) async throws {
    do {
        try await messages.create(["text": ""])
    } catch FeathersError.Code.notAuthenticated {
        say("sign in first")
    } catch let error as FeathersError where error.code == .badRequest {
        say(error.errors?["text"]?.string ?? error.message)
    } catch let error as FeathersError
        where error.code == .unavailable || error.code == .timeout
    {
        say(error.execution == .neverSent ? "nothing was sent" : "it may have been done")
    }
}

func throwsErrors(_ isFull: Bool, _ count: Int) throws {
    if isFull { throw FeathersError(.conflict, "The room is full", data: ["limit": 10]) }
    if count > 100 {
        throw FeathersError(.unprocessable, "Too many", errors: ["count": "at most 100"])
    }
}

extension FeathersError.Code {
    static let teapot: Self = 418
}

func ownCodes(_ service: Service<JSONValue>) async throws -> Bool {
    do {
        _ = try await service.get("coffee")
    } catch FeathersError.Code.teapot {
        return true
    }
    return false
}

func repeats(_ messages: Service<JSONValue>) async throws -> JSONValue {
    do {
        return try await messages.create(["text": "Hi"])
    } catch let error as FeathersError where error.execution == .neverSent {
        return try await messages.create(["text": "Hi"])
    }
}

let unwrapErrors: Hook = { context in
    guard let error = context.error as? FeathersError, error.code == .generalError else {
        return
    }
    context.error = FeathersError(.badGateway, "The server failed", cause: error)
}
