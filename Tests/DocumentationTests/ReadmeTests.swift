import Feathers
import Foundation
import Testing

@Suite("The README")
struct ReadmeTests {
    /// The server-side example, whose dependencies this package must not have.
    private static let gateway = "../Integration/Sources/Gateway"
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// The Swift samples of a text.
    private static func samples(in path: String) throws -> [String] {
        let text = try String(contentsOf: folder.appending(path: "../..").appending(path: path), encoding: .utf8)
        return text.split(separator: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
    }

    /// The lines of a text that say something, without their indentation.
    private static func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(
            separator: "\n")
    }

    @Test(
        "Every sample stands in a file that is compiled",
        arguments: [
            ("README.md", "ReadmeSamples.swift", 7),
            (
                "Sources/Feathers/Documentation.docc/GettingStarted.md",
                "../../Sources/Examples/Hello/Hello.swift GettingStartedSamples.swift", 5
            ),
            ("Sources/Feathers/Documentation.docc/Services.md", "ServiceSamples.swift", 10),
            ("Sources/Feathers/Documentation.docc/UsingHooks.md", "HookSamples.swift", 8),
            ("Sources/Feathers/Documentation.docc/Queries.md", "QuerySamples.swift", 7),
            ("Sources/Feathers/Documentation.docc/RealTime.md", "RealTimeSamples.swift", 7),
            ("Sources/Feathers/Documentation.docc/Errors.md", "ErrorSamples.swift", 6),
            ("Sources/Feathers/Documentation.docc/APIPromise.md", "PromiseSamples.swift", 1),
            ("DESIGN.md", "PromiseSamples.swift", 1),
            ("Sources/Feathers/Documentation.docc/UsingAuthentication.md", "AuthenticationSamples.swift", 5),
            ("Sources/Feathers/Documentation.docc/ManyUsers.md", "AuthenticationSamples.swift", 1),
            ("Sources/Feathers/Documentation.docc/MixedTransports.md", "TrafficSamples.swift", 3),
            ("Sources/Feathers/Documentation.docc/Traffic.md", "TrafficSamples.swift", 4),
            ("Sources/Feathers/Documentation.docc/Caching.md", "TrafficSamples.swift", 4),
            ("Sources/Feathers/Documentation.docc/Feathers6.md", "Feathers6Samples.swift", 7),
            ("Sources/Feathers/Documentation.docc/UsingOutbox.md", "OutboxSamples.swift", 9),
            ("Sources/Feathers/Documentation.docc/Testing.md", "TestingSamples.swift", 8),
            ("Sources/Feathers/Documentation.docc/UsingDiagnostics.md", "DiagnosticsSamples.swift", 6),
            (
                "Sources/Feathers/Documentation.docc/OnTheServer.md",
                """
                ServerSamples.swift \(gateway)/Gateway.swift \(gateway)/UserCalls.swift \(gateway)/FeathersErrors.swift \
                \(gateway)/Events.swift \(gateway)/Logs.swift \(gateway)/Lifecycle.swift \
                \(gateway)Server/GatewayServer.swift
                """, 13
            ),
            ("Sources/Feathers/Documentation.docc/LiveQueries.md", "ListSamples.swift", 4),
            ("Sources/Feathers/Documentation.docc/RelatedRecords.md", "RelationSamples.swift", 5),
            ("Sources/Feathers/Documentation.docc/LocalFirst.md", "LocalSamples.swift", 8),
            ("Sources/Feathers/Documentation.docc/Replicas.md", "ReplicaSamples.swift", 1),
            ("Sources/Feathers/Documentation.docc/ModelsFromYourServer.md", "ModelSamples.swift", 2),
            ("Sources/Feathers/Documentation.docc/Paging.md", "ListSamples.swift", 3),
            ("Sources/Feathers/Documentation.docc/TypedQueries.md", "ListSamples.swift", 4),
            ("Sources/Feathers/Documentation.docc/JSONAPI.md", "JSONAPISamples.swift", 11),
        ])
    func compiled(_ text: String, _ file: String, _ count: Int) throws {
        let files = try file.split(separator: " ").map {
            try String(contentsOf: Self.folder.appending(path: String($0)), encoding: .utf8)
        }
        let source = Self.lines(files.joined(separator: "\n"))
        let samples = try Self.samples(in: text)
        #expect(samples.count >= count)
        for sample in samples { #expect(source.contains(Self.lines(sample)), "not in \(file):\n\(sample)") }
    }

    @Test("The samples that need no server do what they say")
    func run() async throws {
        try await readmeServices()
        #expect(try typedQuerySamples().first == ["kind": "image"])
        #expect(readmeQueries().map { JSONValue.object($0.json).description }.first == #"{"age":{"$gte":18,"$lt":65}}"#)

        let app = FeathersApp()
        let messages = try await app.use(MemoryService(), at: "messages")
        await readmeHooks(app, messages)
        await messages.use(hooks: Hooks(around: [measured]))
        #expect(try await messages.create(["text": "Hi"])["sentAt"]?.string != nil)
        await #expect { try await messages.create([:]) } throws: { "\($0)".contains("A message needs text") }
    }
}
