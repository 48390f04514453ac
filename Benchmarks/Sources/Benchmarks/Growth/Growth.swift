import Feathers

/// The growth measurements.
enum Growth {
    static func groups() async throws -> [GrowthGroup] {
        [
            try await CallGrowth.group(), ReaderGrowth.group(), RecordGrowth.group(), try LiveGrowth.group(),
            RelationGrowth.group(), ServiceGrowth.group(), HookGrowth.group(), try ConnectionGrowth.group(),
            OutboxGrowth.group(), try OverloadGrowth.group(),
        ]
    }

    /// A service that does almost nothing, so that only the call itself is measured.
    actor TrivialService: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { ["id": id.json] }

        private var lastID: Int64 = 0

        func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
            guard case .object(var record) = data else { return data }
            lastID += 1
            record["id"] = .integer(lastID)
            return .object(record)
        }
    }

    static func records(_ count: Int) -> [JSONObject] {
        (0..<count).map {
            [
                "id": .integer(Int64($0)), "text": .string("message \($0 * 7919 % count)"),
                "n": .integer(Int64($0 % 1000)),
            ]
        }
    }
}
