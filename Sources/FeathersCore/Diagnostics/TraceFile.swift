import FeathersSupport
public import Foundation

/// A sink that writes a recording for a trace viewer; see ``DiagnosticSink/trace(to:)``.
public final class TraceFileSink: DiagnosticSink {
    private let recording: Locked<Recording>

    fileprivate init(_ file: FileHandle) { recording = Locked(Recording(file)) }

    public func receive(_ event: DiagnosticEvent) { recording.withLock { $0.add(event) } }
}

extension DiagnosticSink where Self == TraceFileSink {
    /// Returns a sink that writes a recording in the Trace Event Format, which Perfetto and the viewers of browsers
    /// open.
    ///
    /// ```swift
    /// app.use(diagnostics: .trace(to: file), levels: DiagnosticLevels(.trace))
    /// ```
    /// Each service and the connection have a row. A call is a span, with its attempts and HTTP exchanges in it. Events,
    /// gaps, sign-ins and queued writes are instants. It is redacted like every report, and readable at any time, also
    /// after a crash.
    /// - Parameter file: A file that is open for writing. Lines that cannot be written are dropped.
    public static func trace(to file: FileHandle) -> TraceFileSink { TraceFileSink(file) }
}

/// The rows of a recording.
///
/// Calls of a service that overlap are in several lanes of its row, because spans of one thread must be nested.
private struct Recording {
    private struct Row {
        let number: Int
        /// When the last span of each lane ended, in microseconds.
        var lanes: [Int] = []
    }

    /// Spans of one row that overlap beyond this number share the last lane.
    private static let laneLimit = 16
    /// The number of calls in flight whose steps are kept, and of steps of one call.
    private static let (callLimit, stepLimit) = (1_000, 64)

    private let file: FileHandle
    private var rows: [String: Row] = [:]
    /// The steps of calls that have not ended.
    private var steps: [UInt64: [DiagnosticEvent]] = [:]
    /// When the connection was opened; nil while it isn't.
    private var connected: Int?
    private var isEmpty = true

    init(_ file: FileHandle) { self.file = file }

    mutating func add(_ event: DiagnosticEvent) {
        switch event.domain {
        case .calls: addCall(event)
        case .http: if !keep(event) { add(event, to: "http", lane: 0) }
        case .connection: addConnection(event)
        case .events where event[.path] != nil: add(event, to: event.row, lane: 0)
        case .events: add(event, to: "connection", lane: 0)
        default: add(event, to: event.domain.rawValue, lane: 0)
        }
    }

    private mutating func addCall(_ event: DiagnosticEvent) {
        guard event[.outcome] != nil, let duration = event.microseconds else {
            // The start of a call is known at its end.
            if event.level > .trace, !keep(event) { add(event, to: event.row, lane: 0) }
            return
        }
        let end = event.microsecondsInTrace
        let lane = self.lane(of: event.row, from: end - duration, to: end)
        add(event, to: event.row, lane: lane)
        for step in event.callID.flatMap({ steps.removeValue(forKey: $0) }) ?? [] {
            add(step, to: event.row, lane: lane)
        }
    }

    private mutating func addConnection(_ event: DiagnosticEvent) {
        let isOpen = event["recovered"] != nil
        if !isOpen, let start = connected {
            write([
                "ph": "X", "name": "connected", "ts": .integer(Int64(start)),
                "dur": .integer(Int64(max(event.microsecondsInTrace - start, 0))), "pid": 1,
                "tid": .integer(Int64(thread(of: "connection", lane: 0))),
            ])
        }
        connected = isOpen ? event.microsecondsInTrace : nil
        add(event, to: "connection", lane: 0)
    }

    /// Keeps a step of a call until its end, when its lane is known.
    private mutating func keep(_ event: DiagnosticEvent) -> Bool {
        guard let call = event.callID, steps[call] != nil || steps.count < Self.callLimit else { return false }
        if steps[call, default: []].count < Self.stepLimit { steps[call, default: []].append(event) }
        return true
    }

    /// Returns the first lane that is free for a span.
    private mutating func lane(of row: String, from start: Int, to end: Int) -> Int {
        let lanes = rows[row]?.lanes ?? []
        let lane = lanes.firstIndex { $0 <= start } ?? min(lanes.count, Self.laneLimit - 1)
        _ = thread(of: row, lane: lane)
        rows[row]?.lanes[lane] = end
        return lane
    }

    /// Returns the number of a lane's thread, and names the thread when it is first used.
    private mutating func thread(of name: String, lane: Int) -> Int {
        var row = rows[name] ?? Row(number: rows.count + 1)
        while row.lanes.count <= lane {
            nameThread(
                row.number * 100 + row.lanes.count, row.lanes.isEmpty ? name : "\(name) (\(row.lanes.count + 1))")
            row.lanes.append(0)
        }
        rows[name] = row
        return row.number * 100 + lane
    }

    private mutating func nameThread(_ thread: Int, _ name: String) {
        write([
            "ph": "M", "name": "thread_name", "pid": 1, "tid": .integer(Int64(thread)), "args": ["name": .string(name)],
        ])
        write([
            "ph": "M", "name": "thread_sort_index", "pid": 1, "tid": .integer(Int64(thread)),
            "args": ["sort_index": .integer(Int64(thread))],
        ])
    }

    private mutating func add(_ event: DiagnosticEvent, to row: String, lane: Int) {
        var line: JSONObject = [
            "name": .string(event.spanName), "cat": .string(event.domain.rawValue), "pid": 1,
            "tid": .integer(Int64(thread(of: row, lane: lane))), "args": .object(event.arguments),
        ]
        if let duration = event.microseconds, event.domain == .http || event[.outcome] != nil {
            (line["ph"], line["dur"]) = ("X", .integer(Int64(duration)))
            line["ts"] = .integer(Int64(event.microsecondsInTrace - duration))
        } else {
            (line["ph"], line["s"], line["ts"]) = ("i", "t", .integer(Int64(event.microsecondsInTrace)))
        }
        write(line)
    }

    private mutating func write(_ line: JSONObject) {
        // The end of the array is optional, so that a recording is complete at any time.
        let start = isEmpty ? "[\n" : ""
        isEmpty = false
        try? file.write(contentsOf: Data("\(start)\(JSONValue.object(line)),\n".utf8))
    }
}

extension DiagnosticEvent {
    /// The row of an event that names a service.
    fileprivate var row: String { if case .string(let path)? = self[.path], !path.isEmpty { path } else { "calls" } }

    fileprivate var microsecondsInTrace: Int { Int(time.timeIntervalSince1970 * 1_000_000) }

    fileprivate var microseconds: Int? { duration.map { Int($0 / .microseconds(1)) } }

    /// The method of a call or an exchange, or the message.
    fileprivate var spanName: String {
        guard case .string(let method)? = self[.method], self[.outcome] != nil || self[.url] != nil else {
            return message
        }
        return domain == .http ? "HTTP \(method)" : method
    }

    fileprivate var arguments: JSONObject {
        var arguments: JSONObject = ["message": .string(message), "level": .string("\(level)")]
        for (name, value) in attributes { arguments[name.rawValue] = value.json }
        if let callID { arguments["call"] = .integer(Int64(bitPattern: callID)) }
        if let trace { arguments["trace"] = .string(trace.traceparent) }
        return arguments
    }
}

extension DiagnosticAttributes.Value {
    fileprivate var json: JSONValue {
        switch self {
        case .string(let string): .string(string)
        case .integer(let integer): .integer(Int64(integer))
        case .number(let number): .number(number)
        case .bool(let bool): .bool(bool)
        case .duration: .string(description)
        case .json(let json): json
        }
    }
}
