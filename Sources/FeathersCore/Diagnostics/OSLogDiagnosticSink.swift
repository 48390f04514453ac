#if canImport(OSLog)
    import os

    /// A sink that writes to the system's log, each domain as a category of its own.
    ///
    /// What was redacted stays so; all else is logged as public, since it is what the sink was asked to tell.
    public struct OSLogDiagnosticSink: DiagnosticSink {
        private let subsystem: String

        /// A sink for a subsystem; `.osLog(subsystem:)` is the short way.
        /// - Parameter subsystem: whose log it is, by convention the app's bundle identifier.
        public init(subsystem: String) {
            self.subsystem = subsystem
        }

        public func receive(_ event: DiagnosticEvent) {
            let logger = Logger(subsystem: subsystem, category: event.domain.rawValue)
            let call = event.callID.map { " call=\($0)" } ?? ""
            logger.log(level: event.level.osLogType, "\(event.description, privacy: .public)\(call, privacy: .public)")
        }
    }

    extension DiagnosticLevel {
        /// The system's own types have no warning: what a server refused is an error there.
        fileprivate var osLogType: OSLogType {
            switch self {
            case .trace, .debug: .debug
            case .info: .info
            case .notice: .default
            case .warning, .error: .error
            }
        }
    }

    extension DiagnosticSink where Self == OSLogDiagnosticSink {
        /// The system's log.
        /// - Parameter subsystem: whose log it is, by convention the app's bundle identifier.
        public static func osLog(subsystem: String) -> OSLogDiagnosticSink { OSLogDiagnosticSink(subsystem: subsystem) }
    }
#endif
