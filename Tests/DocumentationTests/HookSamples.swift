import Feathers
import Foundation

// The samples of the article about hooks, each one as it stands there: `ReadmeTests` compares them.

private nonisolated func report(_ text: String) {}

func registersHooks(_ app: FeathersApp, _ messages: Service<JSONValue>) async {
    await messages.use(
        hooks: Hooks(
            around: [.find: [measure]],
            before: [.create: [trimText, checkText]],
            after: [{ context in report("\(context.method) is done") }],
            error: [{ context in report("\(context.method) failed: \(context.error!)") }]))
}

let trimText: Hook = { context in
    if let text = context.data?["text"]?.string {
        context.data?["text"] = .string(text.trimmingCharacters(in: .whitespaces))
    }
}

let checkText: Hook = { context in
    guard context.data?["text"]?.string?.isEmpty == false else {
        throw FeathersError(.badRequest, "A message needs text", errors: ["text": "missing"])
    }
}

let measure: AroundHook = { context, next in
    let start = ContinuousClock.now
    try await next(&context)
    print("\(context.path) took \(start.duration(to: .now))")
}

let serveCurrentUser: Hook = { context in
    if context.id == "me" { context.result = ["id": "me", "name": "Ada"] }
}

let softDelete: Hook = { context in
    context.method = .patch
    context.data = ["isDeleted": true]
}

let nullInsteadOfNotFound: Hook = { context in
    if let error = context.error, FeathersError.Code.notFound ~= error {
        context.result = .null
    }
}

enum Requester: ParamsKey { typealias Value = String }

let rememberRequester: Hook = { context in
    context.params[Requester.self] = "ada"
}

let addAuthor: Hook = { context in
    guard let name = context.params[Requester.self] else { return }
    let users = context.app.service("users")
    context.data?["author"] = try await users.get(name)["name"] ?? .null
}

let hideFromEvents: Hook = { context in
    context.dispatch = ["id": context.result?["id"] ?? .null]
    if context.method == .patch { context.event = nil }
}

func readyHooks(_ app: FeathersApp, _ messages: Service<JSONValue>) async {
    await messages.use(
        hooks: .validating(.create, .update) { data in
            guard data["text"]?.string != nil else {
                throw FeathersError(.badRequest, "A message needs text")
            }
        })
    await messages.use(
        hooks: .setting("sentAt", on: .create) { _ in .string(Date.now.ISO8601Format()) })
    app.use(hooks: .retrying(attempts: 3))
    app.use(hooks: .timeout(.seconds(5), for: .find))
    app.use(hooks: .logging { event in report("\(event)") })
}
