import Feathers

struct Trivial: ServiceProtocol {
    func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { ["id": id.json] }
}
func bench(_ name: String, _ hooks: Hooks) async throws -> Service {
    let app = FeathersApp()
    let s = try await app.use(Trivial(), at: name)
    await s.addHooks(hooks)
    return s
}
extension HookMap where Function == Hook {
    init(_ n: Int) { self.init(); self[.all] = Array(repeating: { (_: inout HookContext) in }, count: n) }
}
let n = 200_000
@concurrent func runAll() async throws {
    let around: AroundHook = { c, next in try await next(&c) }
    let services = try await [
        bench("none", Hooks()), bench("before1", Hooks(before: HookMap(1))), bench("before5", Hooks(before: HookMap(5))),
        bench("after1", Hooks(after: HookMap(1))), bench("after5", Hooks(after: HookMap(5))), bench("around1", Hooks(around: [around])),
        bench("around2", Hooks(around: [around, around])), bench("error1", Hooks(error: HookMap(1))),
    ]
    let ms = try await Harness(rounds: 5).measure(
        services.map { s in .init(name: s.path, operations: n) { for _ in 0..<n { _ = try await s.get(1) } } })
    for m in ms { print(m.name, Int(m.nanosecondsPerOperation), Int(m.operationsPerSecond)) }
}
try await runAll()
