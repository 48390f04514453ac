import FeathersCore
import FeathersTesting
import Foundation
import Testing

@Suite("Coding of services")
struct ServiceCodingTests {
    struct Message: Codable, Sendable, Equatable {
        var sentAt: Date
    }

    /// Sends back what it was sent, and the date `5000` where it was sent nothing.
    static func app(_ coding: CodingOptions? = nil) -> FeathersApp {
        let app = FeathersApp(transport: StubTransport { request in request.data ?? ["sentAt": 5000] })
        if let coding { app.coding = coding }
        return app
    }

    static let seconds = CodingOptions(dates: .secondsSince1970)
    static let milliseconds = CodingOptions(dates: .millisecondsSince1970)
    static let tenths = CodingOptions(
        dates: .custom(
            encode: { .number($0.timeIntervalSince1970 * 10) },
            decode: { Date(timeIntervalSince1970: ($0.number ?? 0) / 10) }))

    @Test(
        "The call's options come before the service's, and those before the app's",
        arguments: [
            (seconds, nil, nil, 5000), (seconds, milliseconds, nil, 5), (seconds, milliseconds, tenths, 500),
            (nil, nil, tenths, 500),
            (nil, seconds, nil, 5000), (seconds, nil, tenths, 500),
        ] as [(CodingOptions?, CodingOptions?, CodingOptions?, Double)])
    func precedence(app: CodingOptions?, service: CodingOptions?, call: CodingOptions?, time: Double) async throws {
        let messages = Self.app(app).service("messages", of: Message.self, coding: service)
        var params = Params()
        params.coding = call
        let read = try await messages.get(1, params: params)
        #expect(read.sentAt.timeIntervalSince1970 == time)
        // What is read back from what was written shows both ways.
        let written = try await messages.json.app.service("messages", of: Message.self, coding: service).create(
            read, params: params)
        #expect(written == read)
    }

    @Test("Without options a date is ISO 8601")
    func standard() async throws {
        await #expect { try await Self.app().service("messages", of: Message.self).get(1) } throws: {
            "\($0)".contains("expected String but found a number at 'sentAt'")
        }
    }

    @Test("Events are read with the service's options")
    func events() async throws {
        let messages = Self.app().service("messages", of: Message.self, coding: Self.seconds)
        let events = messages.events(.created)
        messages.json.emit(.created, ["sentAt": 7])
        #expect(try await events.first().sentAt.timeIntervalSince1970 == 7)
    }

    /// A codec of somebody's own, around Foundation's coders.
    struct Foundations: JSONCodec {
        func encode(_ value: some Encodable) throws -> JSONValue {
            try JSONValue(parsing: JSONEncoder().encode(["wrapped": value]))
        }
        func decode<T: Decodable>(_ type: T.Type, from json: JSONValue) throws -> T {
            try JSONDecoder().decode([String: T].self, from: Data(json.serialized()))["wrapped"].unsafelyUnwrapped
        }
    }

    @Test("A codec of one's own does it all")
    func ownCodec() async throws {
        let app = Self.app()
        app.coding = Foundations()
        let message = Message(sentAt: Date(timeIntervalSinceReferenceDate: 3))
        #expect(try await app.service("messages", of: Message.self).create(message) == message)
        #expect(try await app.service("messages").create(["a": 1]) == ["a": 1])
    }

    @Test("Root keys of a service unwrap records, lists, pages and results of custom methods")
    func rootKeys() async throws {
        let transport = StubTransport { request in
            switch request.method {
            case .find where request.params.query.isEmpty: ["result": [["n": 1], ["n": 2]]]
            case .find: ["result": ["total": 9, "limit": 1, "skip": 0, "data": [["n": 3]]]]
            default: ["result": ["n": 4]]
            }
        }
        let app = FeathersApp(transport: transport)
        let numbers = app.service("numbers", of: [String: Int].self, rootKeys: ["result"])
        #expect(try await numbers.find().data == [["n": 1], ["n": 2]])
        let page = try await numbers.find(.limit(1))
        #expect((page.data, page.total) == ([["n": 3]], 9))
        #expect(try await numbers.get(1) == ["n": 4])
        #expect(try await numbers.patch(1, with: ["n": 4]) == ["n": 4])
        #expect(try await numbers.call("sum", with: ["n": 4], returning: [String: Int].self) == ["n": 4])
        await #expect { try await app.service("numbers", of: [String: Int].self, rootKeys: ["data"]).get(1) } throws: {
            "\($0)".contains("the root key 'data' is missing at the top level; found an object with the keys 'result'")
        }
    }

    @Test("Pages fetched one after the other are unwrapped too, and read as the call says")
    func pages() async throws {
        let transport = StubTransport { request in
            [
                "result": [
                    "total": 1, "limit": 1, "skip": 0,
                    "data": request.params.query.json["$skip"] == nil ? [["sent_at": 5000]] : [],
                ]
            ]
        }
        let messages = FeathersApp(transport: transport).service("messages", of: Message.self, rootKeys: ["result"])
        var params = Params()
        params.coding = CodingOptions(dates: .secondsSince1970, keys: .snakeCase)
        var times: [Double] = []
        for try await message in messages.pages(of: 1, params: params).records {
            times.append(message.sentAt.timeIntervalSince1970)
        }
        #expect(times == [5000])
    }

    enum Role: String, Codable { case admin }

    @Test(
        "Errors say what was there, and nothing of the value",
        arguments: [
            (["sentAt": ["s3cret"]], "expected String but found an array at 'sentAt'"),
            (["sentAt": nil], "String is null at 'sentAt'"),
            ([:], "'sentAt' is missing"), ("s3cret", "but found a string at the top"),
        ] as [(JSONValue, String)])
    func errors(json: JSONValue, text: String) async throws {
        let app = FeathersApp(transport: StubTransport { _ in json })
        await #expect { try await app.service("messages", of: Message.self).get(1) } throws: {
            "\($0)".contains(text) && !"\($0)".contains("s3cret")
        }
    }

    @Test("What is no case of an enumeration is not quoted")
    func enumerations() async throws {
        let app = FeathersApp(transport: StubTransport { _ in ["role": "s3cret"] })
        await #expect { try await app.service("users", of: [String: Role].self).get(1) } throws: {
            "\($0)".contains("at 'role'") && !"\($0)".contains("s3cret")
        }
    }
}
