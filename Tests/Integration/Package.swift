// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because feathers-swift has no dependencies, and a server has these.
let settings: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "Integration",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "feathers-swift", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.20.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
    ],
    targets: [
        .target(
            name: "Gateway",
            dependencies: [
                .product(name: "Feathers", package: "feathers-swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(
            name: "PooledHTTP",
            dependencies: [
                .product(name: "Feathers", package: "feathers-swift"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "GatewayServer",
            dependencies: [
                "Gateway",
                .product(name: "Feathers", package: "feathers-swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Gateway", "TestBackend",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Feathers", package: "feathers-swift"),
                .product(name: "FeathersTesting", package: "feathers-swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: settings),
        // The library's own backend, and its suites that any HTTP client must pass, by links.
        .target(
            name: "TestBackend", dependencies: [.product(name: "Feathers", package: "feathers-swift")],
            path: "Tests/TestBackend", exclude: ["RawResults.swift"], swiftSettings: settings),
        .testTarget(
            name: "PooledHTTPTests",
            dependencies: [
                "PooledHTTP", "TestBackend",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Feathers", package: "feathers-swift"),
            ],
            swiftSettings: settings),
    ]
)
