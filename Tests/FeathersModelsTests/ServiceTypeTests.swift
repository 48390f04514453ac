import FeathersJSON
import FeathersModels
import Testing

@Suite("The types of several services")
struct ServiceTypeTests {
    private static let named = Corpus.object(["name": ["type": "string"]])
    /// What a type outside others conforms to, unless it is a model.
    private static let value = "Codable, Hashable, Sendable, ServiceValue"
    private static let orders: JSONValue = ["get": Corpus.result(Corpus.reference("orders"))]

    @Test("a schema of a service that is left out is a type of its own")
    func leftOut() throws {
        let output = Corpus.files(
            paths: [
                "/statuses": ["get": Corpus.result(["type": "array", "items": Corpus.reference("Status")])],
                "/orders/{id}": Self.orders,
            ],
            schemas: [
                "Status": ["type": "string", "enum": ["open", "paid"]],
                "orders": Corpus.object(["status": Corpus.reference("Status")]),
            ])
        #expect(output.services == ["orders"])
        #expect(
            output.warnings.map(\.message) == [
                "service 'statuses' is left out: its records are not objects with known properties"
            ])
        let text = try #require(output.files["Order.swift"])
        #expect(text.contains("    var status: Status?\n"))
        #expect(text.contains("\nenum Status: RawRepresentable"), "\(text)")
    }

    @Test("a model that another service takes as data is the model wherever it is referred to")
    func dataOfAnotherService() throws {
        let readOnly: JSONValue = ["type": "string", "readOnly": true]
        let output = Corpus.files(
            paths: [
                "/accounts": ["post": Corpus.result(Corpus.reference("Account"), body: Corpus.reference("User"))],
                "/messages/{id}": ["get": Corpus.result(Corpus.reference("messages"))],
                "/users/{id}": ["get": Corpus.result(Corpus.reference("User"))],
            ],
            schemas: [
                "Account": Self.named, "messages": Corpus.object(["user": Corpus.reference("User")]),
                "User": Corpus.object(
                    ["_id": readOnly, "createdAt": readOnly, "name": ["type": "string"]], required: ["_id"]),
            ])
        #expect(try #require(output.files["Message.swift"]).contains("    var user: User?\n"))
        let user = try #require(output.files["User.swift"])
        #expect(
            user.contains(
                "\nstruct User: Codable, Hashable, Sendable, Identifiable, ServiceModel {\n    var id: String\n"))
        let account = try #require(output.files["Account.swift"])
        #expect(account.contains("    typealias CreateData = AccountData\n"))
        #expect(account.contains("\nstruct AccountData: \(Self.value) {\n    var name: String?\n}\n"), "\(account)")
    }

    @Test(
        "data that is not an object is declared with the types inside it",
        arguments: [
            (
                ["type": "array", "items": named], "[OrderDataValue]",
                "struct OrderDataValue: \(value) {\n    var name: String?\n"
            ),
            (
                ["oneOf": [["type": "string"], ["type": "array", "items": ["type": "string"]]]], "OrderDataValue",
                "enum OrderDataValue: \(value) {\n    case string(String)\n    case list([String])\n"
            ),
            (["type": "string", "enum": ["a", "b"]], "OrderDataValue", "enum OrderDataValue: RawRepresentable"),
        ] as [(JSONValue, String, String)])
    func dataIsNoObject(_ body: JSONValue, _ type: String, _ declaration: String) throws {
        let output = Corpus.files(
            paths: [
                "/orders": ["post": Corpus.result(Corpus.reference("orders"), body: body)], "/orders/{id}": Self.orders,
            ],
            schemas: ["orders": Self.named])
        let text = try #require(output.files["Order.swift"])
        #expect(text.contains("    typealias CreateData = \(type)\n"))
        #expect(text.contains("\n\(declaration)"), "\(text)")
    }

    @Test("a schema that is not an object is a type of its own although a service takes it as data")
    func referredData() throws {
        let output = Corpus.files(
            paths: [
                "/orders": ["post": Corpus.result(Corpus.reference("orders"), body: Corpus.reference("Input"))],
                "/orders/{id}": Self.orders,
            ],
            schemas: [
                "orders": Corpus.object(["input": Corpus.reference("Input")]),
                "Input": ["type": "string", "enum": ["a", "b"]],
            ])
        let text = try #require(output.files["Order.swift"])
        #expect(text.contains("    var input: Input?\n"), "\(text)")
        #expect(text.contains("\nenum Input: RawRepresentable"), "\(text)")
    }

    @Test("data has another name if a service's records have its name", arguments: ["Data", "Patch"])
    func names(_ suffix: String) throws {
        let path = suffix == "Data" ? "/user-data/{id}" : "/user-patches/{id}"
        let output = Corpus.files(
            paths: [
                path: ["get": Corpus.result(Corpus.reference("other"))],
                "/users/{id}": ["get": Corpus.result(Corpus.reference("users"))],
            ],
            schemas: ["users": Self.named, "other": Self.named])
        let user = try #require(output.files["User.swift"])
        #expect(
            user.contains("    typealias \(suffix == "Data" ? "CreateData" : "PatchData") = User\(suffix)2\n"),
            "\(user)")
        #expect(user.contains("\nstruct User\(suffix)2: \(Self.value) {\n"), "\(user)")
        #expect(!user.contains("struct User\(suffix): "), "\(user)")
        #expect(try #require(output.files["User\(suffix).swift"]).contains("\nstruct User\(suffix): "))
    }

    @Test("a patch has types of its own for parts in which only it allows null")
    func nullInPatch() throws {
        let text: JSONValue = ["type": "string"], nullable: JSONValue = ["type": "string", "nullable": true]
        let (model, patch) = (
            Corpus.object(["bio": text], required: ["bio"]), Corpus.object(["bio": nullable], required: ["bio"])
        )
        let output = Corpus.files(
            paths: [
                "/users/{id}": [
                    "get": Corpus.result(Corpus.reference("users")),
                    "patch": Corpus.result(Corpus.reference("users"), body: Corpus.object(["profile": patch])),
                ]
            ],
            schemas: ["users": Corpus.object(["profile": model])])
        let parts = try #require(output.files["User.swift"]).split(separator: "\nstruct UserPatch: \(Self.value) {\n")
        #expect(try #require(parts.first).contains("        var bio: String\n"))
        #expect(try #require(parts.last).contains("        @Nullable var bio: String?\n"), "\(parts)")
        #expect(try #require(parts.last).contains("    var profile: Profile?\n"))
    }
}
