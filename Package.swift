// swift-tools-version: 6.2
import PackageDescription

// Every target is built the same way: Swift 6 language mode plus the upcoming
// features that make isolation and imports explicit.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
    name: "feathers-swift",
    // The first systems with the standard library that this package is written in: Synchronization, and `AsyncSequence`
    // with a typed failure. Linux and Android need no versions.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        // All modules behind the umbrella by their names: a comparison of the public API looks at those alone that a
        // product names.
        .library(
            name: "Feathers",
            targets: [
                "Feathers", "FeathersAuthentication", "FeathersCaching", "FeathersCore", "FeathersJSON",
                "FeathersNetworking",
                "FeathersREST", "FeathersSocketIO", "FeathersSync", "FeathersTraffic",
            ]),
        .library(name: "FeathersJSONAPI", targets: ["FeathersJSONAPI"]),
        .library(name: "FeathersTesting", targets: ["FeathersTesting"]),
        .plugin(name: "FeathersModelsPlugin", targets: ["FeathersModelsPlugin"]),
    ],
    targets: [
        .target(
            name: "Feathers",
            dependencies: [
                "FeathersAuthentication", "FeathersCaching", "FeathersCore", "FeathersNetworking", "FeathersREST",
                "FeathersSocketIO",
                "FeathersSync", "FeathersTraffic",
            ],
            swiftSettings: settings),
        // JSON: values, text, parser, serializer and Codable. Imports nothing of this package.
        .target(name: "FeathersJSON", swiftSettings: settings),
        // Locks, promises, clocks, files and databases: what several rooms need and none owns.
        .target(name: "FeathersSupport", dependencies: ["CSQLite"], swiftSettings: settings),
        // Loads SQLite when it is first needed on Linux and Android; links it on Apple platforms.
        .target(
            name: "CSQLite",
            linkerSettings: [
                .linkedLibrary("dl", .when(platforms: [.linux, .android])),
                .linkedLibrary("sqlite3", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])),
            ]),
        .target(name: "FeathersCore", dependencies: ["FeathersJSON", "FeathersSupport"], swiftSettings: settings),
        // Declares the libcurl that FoundationNetworking brings along on Linux and Android; empty elsewhere.
        .target(name: "CCurl"),
        // epoll and threads for the WebSockets on Linux and Android; empty elsewhere.
        .target(name: "CLinuxIO"),
        .target(
            name: "FeathersNetworking",
            dependencies: [
                "FeathersSupport",
                .target(name: "CCurl", condition: .when(platforms: [.linux, .android])),
                .target(name: "CLinuxIO", condition: .when(platforms: [.linux, .android])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FeathersREST", dependencies: ["FeathersCore", "FeathersSupport", "FeathersNetworking"],
            swiftSettings: settings),
        .target(
            name: "FeathersSocketIO", dependencies: ["FeathersCore", "FeathersSupport", "FeathersNetworking"],
            swiftSettings: settings),
        .target(
            name: "FeathersJSONAPI",
            dependencies: ["FeathersCore", "FeathersSupport", "FeathersNetworking", "FeathersREST"],
            swiftSettings: settings),
        .target(name: "FeathersCaching", dependencies: ["FeathersCore", "FeathersSupport"], swiftSettings: settings),
        // What the app knows without asking: live queries and queued writes.
        .target(name: "FeathersSync", dependencies: ["FeathersCore", "FeathersSupport"], swiftSettings: settings),
        .target(
            name: "FeathersAuthentication", dependencies: ["FeathersCore", "FeathersSupport"], swiftSettings: settings),
        .target(name: "FeathersTraffic", dependencies: ["FeathersCore", "FeathersSupport"], swiftSettings: settings),
        .target(
            name: "FeathersTesting", dependencies: ["FeathersCore", "FeathersSupport", "FeathersNetworking"],
            swiftSettings: settings),
        // Swift models from schemas, without input and output; the command around it; and the command as a plugin.
        .target(name: "FeathersModels", dependencies: ["FeathersJSON"], swiftSettings: settings),
        .executableTarget(
            name: "feathers-models", dependencies: ["FeathersJSON", "FeathersModels", "FeathersNetworking"],
            path: "Sources/FeathersModelsCommand", swiftSettings: settings),
        .plugin(
            name: "FeathersModelsPlugin",
            capability: .command(
                intent: .custom(
                    verb: "feathers-models", description: "Writes Swift models for the services of a FeathersJS server."
                ),
                permissions: [
                    .writeToPackageDirectory(reason: "The models are written into your package."),
                    .allowNetworkConnections(
                        scope: .all(), reason: "A server's own description of its services is read."),
                ]),
            dependencies: ["feathers-models"], path: "Sources/Plugins/FeathersModelsPlugin"),
        // How the examples begin and end: usage, exit codes, and a sentence instead of a crash.
        .target(
            name: "ExampleProgram", dependencies: ["Feathers"], path: "Sources/Examples/ExampleProgram",
            swiftSettings: settings),
        .executableTarget(
            name: "Quickstart", dependencies: ["ExampleProgram", "Feathers"], swiftSettings: settings),
        .executableTarget(
            name: "EventStream", dependencies: ["ExampleProgram", "Feathers"], path: "Sources/Examples/EventStream",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "JobWorker", dependencies: ["ExampleProgram", "Feathers"], path: "Sources/Examples/JobWorker",
            swiftSettings: settings),
        .executableTarget(
            name: "Notes", dependencies: ["ExampleProgram", "Feathers"], path: "Sources/Examples/Notes",
            swiftSettings: settings),
        .executableTarget(
            name: "Board", dependencies: ["ExampleProgram", "Feathers"], path: "Sources/Examples/Board",
            exclude: ["Schemas"],
            swiftSettings: settings),
        .executableTarget(
            name: "Hello", dependencies: ["Feathers"], path: "Sources/Examples/Hello", swiftSettings: settings),
        .executableTarget(
            name: "Chat", dependencies: ["ExampleProgram", "Feathers"], path: "Sources/Examples/Chat",
            swiftSettings: settings),
        .target(
            name: "ChatViews", dependencies: ["Feathers"], path: "Sources/Examples/ChatViews", swiftSettings: settings),
        .executableTarget(
            name: "Demo", dependencies: ["ChatViews"], path: "Sources/Examples/Demo", swiftSettings: settings),

        // Starts the Python server the integration suites talk to.
        .target(
            name: "TestBackend", dependencies: ["FeathersCore", "FeathersNetworking"],
            path: "Tests/Support/TestBackend",
            swiftSettings: settings),
        .testTarget(
            name: "FeathersJSONTests", dependencies: ["FeathersJSON", "FeathersTesting", "TestBackend"],
            swiftSettings: settings),
        .testTarget(
            name: "FeathersSupportTests", dependencies: ["FeathersSupport", "FeathersTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "FeathersCoreTests",
            dependencies: ["FeathersCore", "FeathersSupport", "FeathersTesting", "TestBackend"],
            swiftSettings: settings),
        .testTarget(
            name: "FeathersNetworkingTests",
            dependencies: ["FeathersSupport", "FeathersNetworking", "TestBackend"],
            swiftSettings: settings),
        .testTarget(
            name: "FeathersRESTTests",
            dependencies: [
                "FeathersSupport", "FeathersCore", "FeathersNetworking", "FeathersREST", "FeathersTesting",
                "TestBackend",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FeathersSocketIOTests",
            dependencies: [
                "FeathersSupport", "FeathersCore", "FeathersNetworking", "FeathersREST", "FeathersSocketIO",
                "FeathersTesting",
                "TestBackend",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FeathersTestingTests",
            dependencies: [
                "FeathersSupport", "FeathersAuthentication", "FeathersCore", "FeathersNetworking", "FeathersREST",
                "FeathersTesting",
                "TestBackend",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FeathersCachingTests",
            dependencies: [
                "FeathersSupport", "FeathersCaching", "FeathersCore", "FeathersNetworking", "FeathersREST",
                "FeathersTesting", "TestBackend",
                "CacheWriter",
            ],
            swiftSettings: settings),
        // Writes into a disk cache until it is killed.
        .executableTarget(
            name: "CacheWriter", dependencies: ["FeathersCaching", "FeathersCore"], path: "Tests/Programs/CacheWriter",
            swiftSettings: settings),
        .testTarget(
            name: "FeathersTrafficTests",
            dependencies: [
                "FeathersSupport", "Feathers", "FeathersCore", "FeathersTesting", "FeathersTraffic", "TestBackend",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FeathersSyncTests",
            dependencies: [
                "FeathersSupport", "Feathers", "FeathersCore", "FeathersSync", "FeathersTesting", "TestBackend",
                "OutboxWriter",
                "LocalWriter",
            ],
            swiftSettings: settings),
        // Queues writes and shows them in a live query until it is killed.
        .executableTarget(
            name: "LocalWriter", dependencies: ["Feathers"], path: "Tests/Programs/LocalWriter", swiftSettings: settings
        ),
        // Writes into an outbox and sends from it until it is killed.
        .executableTarget(
            name: "OutboxWriter", dependencies: ["Feathers"], path: "Tests/Programs/OutboxWriter",
            swiftSettings: settings),
        .testTarget(
            name: "FeathersAuthenticationTests",
            dependencies: [
                "FeathersSupport", "Feathers", "FeathersAuthentication", "FeathersTesting", "TestBackend",
                "TokenSharer",
            ],
            swiftSettings: settings),
        // Makes calls with tokens that it shares with other processes until it is killed.
        .executableTarget(
            name: "TokenSharer", dependencies: ["Feathers"], path: "Tests/Programs/TokenSharer", swiftSettings: settings
        ),
        .testTarget(
            name: "FeathersJSONAPITests",
            dependencies: [
                "FeathersSupport", "FeathersAuthentication", "FeathersCaching", "FeathersCore", "FeathersJSONAPI",
                "FeathersNetworking",
                "FeathersREST",
                "FeathersTesting", "TestBackend",
            ],
            swiftSettings: settings),
        // Whole apps: cache, authentication, live queries, outbox and traffic together.
        .testTarget(
            name: "CompositionTests",
            dependencies: [
                "FeathersSupport", "Feathers", "FeathersAuthentication", "FeathersCaching", "FeathersCore",
                "FeathersJSONAPI",
                "FeathersNetworking", "FeathersREST", "FeathersSync", "FeathersTesting", "FeathersTraffic",
                "TestBackend",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "FeathersSupport", "Feathers", "FeathersJSONAPI", "FeathersTesting", "TestBackend", "MemoryProbe",
            ],
            swiftSettings: settings),
        // Does one thing that a hostile server can make large, and says how much memory that took.
        .executableTarget(
            name: "MemoryProbe", dependencies: ["Feathers", "FeathersJSON"], path: "Tests/Programs/MemoryProbe",
            swiftSettings: settings),
        // Makes beginners' mistakes, and prints the table of them in the documentation.
        .executableTarget(
            name: "MistakeTable", dependencies: ["Feathers", "FeathersTesting", "TestBackend"],
            path: "Tests/Programs/MistakeTable",
            swiftSettings: settings),
        // Every transport against a server that attacks it.
        .testTarget(
            name: "AdversaryTests", dependencies: ["Feathers", "FeathersTesting", "TestBackend"],
            swiftSettings: settings),
        .testTarget(
            name: "FeathersModelsTests",
            // Compiles what it generates, which imports Feathers.
            dependencies: [
                "Feathers", "FeathersJSON", "FeathersModels", "FeathersNetworking", "TestBackend", "feathers-models",
            ],
            exclude: ["Corpus", "Golden"], swiftSettings: settings),
        .testTarget(
            name: "QuickstartTests", dependencies: ["Quickstart", "Feathers", "TestBackend"], swiftSettings: settings),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "FeathersSupport", "Board", "Chat", "EventStream", "ExampleProgram", "Hello", "JobWorker", "Notes",
                "Quickstart",
                "Feathers",
                "FeathersTesting",
                "TestBackend", "feathers-models",
            ],
            swiftSettings: settings),
        // What the tests of an app look like: on the test kit alone, without a server.
        .testTarget(
            name: "ChatViewsTests", dependencies: ["ChatViews", "Feathers", "FeathersTesting"],
            swiftSettings: settings),
        // Compiles what the documentation shows.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "FeathersSupport", "Feathers", "FeathersJSONAPI", "FeathersTesting", "MistakeTable", "TestBackend",
            ],
            swiftSettings: settings),
    ]
)
