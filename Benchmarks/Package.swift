// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "feathers-swift", path: "..")],
    targets: [
        // A client that only counts frames: the floor of what events and calls can cost. Empty except on Linux.
        .target(name: "CFloor"),
        // Counts allocations and locks of this process, from which `--floor` tells what an operation takes.
        .target(name: "CCounters"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CCounters", "CFloor",
                .product(name: "Feathers", package: "feathers-swift"),
                .product(name: "FeathersJSONAPI", package: "feathers-swift"),
            ],
            swiftSettings: settings),
        // A load test for any server: many clients in one process.
        .executableTarget(
            name: "Swarm", dependencies: [.product(name: "Feathers", package: "feathers-swift")], path: "Swarm",
            swiftSettings: settings),
    ]
)
