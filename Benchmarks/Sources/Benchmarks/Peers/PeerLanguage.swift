import Foundation

/// What peers are written in, and where it is found.
enum PeerLanguage {
    case python, node

    var name: String {
        switch self {
        case .python: "Python"
        case .node: "Node"
        }
    }

    /// The program that runs scripts; nil where there is none.
    ///
    /// Python is that of the environment `Benchmarks/compare` makes, or else the test backend's, which `swift test` makes.
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

    /// Node from elsewhere does not look where Debian's packages are.
    var environment: [String: String] {
        guard self == .node else { return [:] }
        let paths = [ProcessInfo.processInfo.environment["NODE_PATH"], "/usr/share/nodejs"].compactMap(\.self)
        return ["NODE_PATH": paths.joined(separator: ":")]
    }

    private static func isProgram(_ url: URL) -> Bool { FileManager.default.isExecutableFile(atPath: url.path) }
}
