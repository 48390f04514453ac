package import Foundation

/// The backend's Python packages, installed under `.build` once per set of pins.
package struct VirtualEnvironment {
    let package: URL
    let python: PythonInstallation

    private var folder: URL { package.appending(path: ".build/test-backend") }
    private var requirements: URL { package.appending(path: "Tests/Support/Backend/requirements.txt") }
    private var interpreter: String { folder.appending(path: "bin/python").path }

    /// The interpreter to run this package's backend with, after creating what is missing.
    package static func interpreter() throws -> String {
        try VirtualEnvironment(package: PackageFolder.url, python: PythonInstallation()).prepared()
    }

    /// The interpreter to run the backend with, after creating what is missing.
    func prepared() throws -> String {
        let build = package.appending(path: ".build")
        try FileManager.default.createDirectory(at: build, withIntermediateDirectories: true)
        let pins = try Data(contentsOf: requirements)
        let marker = folder.appending(path: "installed-\(Self.stableHash(of: pins))")
        // Beside the folder, which is emptied when the pins change.
        return try FileLock(url: build.appending(path: "test-backend.lock")).withLock {
            let isComplete =
                FileManager.default.fileExists(atPath: marker.path)
                && FileManager.default.isExecutableFile(atPath: interpreter)
            if !isComplete {
                try create()
                try Data().write(to: marker)
            }
            return interpreter
        }
    }

    private func create() throws(BackendUnavailable) {
        let creation = Command(
            executable: try python.executable(),
            arguments: ["-m", "venv", "--clear", folder.path],
            limit: 120
        )
        guard case .succeeded = creation.run() else { throw .python }
        let installation = Command(
            executable: interpreter,
            arguments: ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements.path],
            limit: 300
        )
        switch installation.run() {
        case .succeeded: return
        case .failed(let reason): throw .packages(reason)
        case .notRunnable: throw .python
        }
    }

    /// FNV-1a: the same in every process, unlike `Hasher`.
    package static func stableHash(of data: Data) -> String {
        let hash = data.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
