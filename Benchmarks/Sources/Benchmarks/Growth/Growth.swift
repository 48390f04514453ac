import Feathers

/// What is measured for its growth.
enum Growth {
    static func groups() async throws -> [GrowthGroup] {
        [
            try await CallGrowth.group(), ReaderGrowth.group(), RecordGrowth.group(), try LiveGrowth.group(), ServiceGrowth.group(),
            HookGrowth.group(),
        ]
    }

    /// Does next to nothing: what is measured is the way there.
    struct TrivialService: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { ["id": id.json] }
        func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue { data }
    }

    static func records(_ count: Int) -> [JSONObject] {
        (0..<count).map { ["id": .integer(Int64($0)), "text": .string("message \($0 * 7919 % count)"), "n": .integer(Int64($0 % 1000))] }
    }
}
