package import Foundation

/// The environment variables that tests read. Tests/README.md describes them.
package enum Environment {
    /// How many steps, documents, frames, schemas or kills a test makes, or how many seconds it takes; nil for its
    /// default.
    package static let count = value("FEATHERS_COUNT").flatMap { Int($0) }

    /// Where random numbers begin; nil for the default of each test.
    package static let seed = value("FEATHERS_SEED").flatMap { UInt64($0) }

    /// Whether tests are to measure what takes long, or much memory. They measure the process, so nothing else may run
    /// in it.
    package static let isLong = value("FEATHERS_LONG") == "1"

    /// The FeathersJS server that the integration suites use instead of the test backend.
    package static let backendURL = value("FEATHERS_BACKEND_URL").flatMap { URL(string: $0) }

    package static let skipsIntegration = value("FEATHERS_SKIP_INTEGRATION") == "1"

    /// The folder of recorded traffic.
    package static let wire =
        value("FEATHERS_WIRE").map { URL(filePath: $0, directoryHint: .isDirectory) } ?? PackageFolder.wire

    /// Whether generated models are stored as the expected ones.
    package static let recordsModels = value("FEATHERS_MODELS_RECORD") == "1"

    /// The variable's value; nil if unset or empty.
    static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether this process is instrumented by Thread Sanitizer, and so several times slower.
    package static let isThreadSanitized = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil

    /// Whether the suites are to open their WebSockets on `URLSessionWebSocketTask`, which only some Foundations on
    /// Linux have.
    package static var choosesURLSessionWebSockets: Bool { value("FEATHERS_WEBSOCKET") == "urlsession" }
}
