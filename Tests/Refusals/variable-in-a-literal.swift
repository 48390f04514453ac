// expect: cannot convert value of type 'String' to expected dictionary value type 'JSONValue'
// article: Services.md
// mistake: A variable in a JSON literal
import Feathers

func add(_ name: String, to users: UntypedService) async throws {
    // fix: try await users.create(["name": JSONValue(name)])
    try await users.create(["name": name])
}
