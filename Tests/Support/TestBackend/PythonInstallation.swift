import Foundation

/// A Python that can run the backend, looked for among the usual names.
package struct PythonInstallation: Sendable {
    /// Names looked up in `PATH`, best first.
    package static let usualCandidates = [
        "python3", "python", "python3.13", "python3.12", "python3.11", "python3.10", "python3.9",
    ]

    /// Names to look up, or paths.
    let candidates: [String]

    package init(candidates: [String] = usualCandidates) {
        self.candidates = candidates
    }

    /// The first candidate that is at least 3.9 and can create virtual environments.
    package func executable() throws(BackendUnavailable) -> String {
        let probe = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))"
        for path in candidates.lazy.compactMap(Self.path) {
            if case .succeeded = Command(executable: path, arguments: ["-c", probe], limit: 20).run() { return path }
        }
        throw .python
    }

    private static func path(of candidate: String) -> String? {
        let folders =
            candidate.contains("/") ? [""] : (Environment.value("PATH") ?? "").split(separator: ":").map { $0 + "/" }
        return folders.map { $0 + candidate }.first(where: FileManager.default.isExecutableFile)
    }
}
