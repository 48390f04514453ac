import Foundation

/// The environment variables this process was started with.
package enum Environment {
    /// The variable's value; nil if unset or empty.
    package static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether this process is instrumented by Thread Sanitizer, and so several times slower.
    package static let isThreadSanitized = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil

    /// Whether the suites are to open their WebSockets on `URLSessionWebSocketTask`, which only some Foundations on Linux have.
    package static var choosesURLSessionWebSockets: Bool { value("FEATHERS_WEBSOCKET") == "urlsession" }
}
