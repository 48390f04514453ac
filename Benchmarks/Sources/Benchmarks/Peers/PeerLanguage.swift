import Foundation

/// The language of a peer, and its interpreter.
enum PeerLanguage {
    case python, node

    var name: String {
        switch self {
        case .python: "Python"
        case .node: "Node"
        }
    }

    /// The program that runs scripts; nil if it isn't installed.
    ///
    /// Python comes from the environment that `Benchmarks/compare` creates, or from the test backend's, which `swift
    /// test` creates.
    var program: URL? {
        switch self {
        case .python:
            let environments = ["peers", "test-backend"].map {
                ResultFiles.package.appending(path: "../.build/\($0)/bin/python").standardized
            }
            return environments.first { Self.isProgram($0) }
        case .node:
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            let programs = folders.flatMap { folder in ["node", "nodejs"].map { URL(filePath: "\(folder)/\($0)") } }
            return programs.first { Self.isProgram($0) }
        }
    }

    private static func isProgram(_ url: URL) -> Bool { FileManager.default.isExecutableFile(atPath: url.path) }
}
