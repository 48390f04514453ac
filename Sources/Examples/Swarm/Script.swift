import Feathers
import Foundation

/// What each client does.
struct Script {
    let name: String
    private(set) var lines: [Line] = []

    /// Whether clients sign in.
    var signsIn: Bool { lines.contains { if case .authenticate = $0.step { true } else { false } } }

    /// One step, for some or all clients, once or repeatedly.
    struct Line {
        let number: Int
        let step: Step
        /// How the step is named in the table.
        let title: String
        /// The number of clients that take the step, or nil for all.
        var clients: Int?
        var times = 1
        /// The time from the start of one repetition to the start of the next.
        var interval: Duration?
    }

    enum Step {
        case connect, disconnect, together
        case pause(Duration)
        case authenticate(Template)
        case call(ServiceMethod, path: String, id: Template?, data: Template?)
        case listen(path: String, EventName, since: String?)
        case wait(Int, path: String, EventName, within: Duration)
    }

    init(contentsOf file: String, overREST: Bool) throws {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw SwarmError(status: 66, message: "The script '\(file)' cannot be read.")
        }
        try self.init(text, name: URL(filePath: file).lastPathComponent, overREST: overREST)
    }

    init(_ text: String, name: String, overREST: Bool) throws {
        self.name = name
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var words = Words(line, place: "\(name):\(index + 1)")
            guard !words.isEmpty else { continue }
            lines.append(try Self.line(index + 1, &words, overREST: overREST))
            try words.end()
        }
        guard !lines.isEmpty else { throw SwarmError(status: 65, message: "\(name): the script has no steps.") }
    }

    private static func line(_ number: Int, _ words: inout Words, overREST: Bool) throws -> Line {
        var (clients, times, interval): (Int?, Int, Duration?) = (nil, 1, nil)
        if words.take("first") {
            clients = try words.count()
            try words.require("clients")
        }
        if words.startsWithNumber {
            times = try words.count()
            try words.require("times")
            if words.take("every") { interval = try words.duration() }
        }
        let verb = words
        let (step, title) = try step(&words)
        switch step {
        case .listen where overREST, .wait where overREST: throw verb.wrong("REST delivers no events; use '--transport socketio'")
        default: return Line(number: number, step: step, title: title, clients: clients, times: times, interval: interval)
        }
    }

    private static func step(_ words: inout Words) throws -> (Step, title: String) {
        let before = words
        let verb = try words.next("a step")
        func call(_ method: ServiceMethod, id: Bool, data: Bool) throws -> (Step, title: String) {
            let path = try words.next("a service")
            let id = id ? Template(try words.next("an id")) : nil
            let data = data || !words.isEmpty ? try words.json() : nil
            return (.call(method, path: path, id: id, data: data), "\(verb) \(path)")
        }
        switch verb {
        case "connect": return (.connect, verb)
        case "disconnect": return (.disconnect, verb)
        case "together": return (.together, verb)
        case "pause": return (.pause(try words.duration()), verb)
        case "authenticate":
            guard !words.startsWithJSON else { return (.authenticate(try words.json()), verb) }
            let (email, password) = (try words.next("an email address"), try words.next("a password"))
            let fields: JSONValue = ["strategy": "local", "email": .string(email), "password": .string(password)]
            return (.authenticate(Template("\(fields)")), verb)
        case "find": return try call(.find, id: false, data: false)
        case "get": return try call(.get, id: true, data: false)
        case "create": return try call(.create, id: false, data: true)
        case "update": return try call(.update, id: true, data: true)
        case "patch": return try call(.patch, id: true, data: true)
        case "remove": return try call(.remove, id: true, data: false)
        case "call":
            let (path, method) = (try words.next("a service"), try words.next("a method"))
            let data = try words.json()
            return (.call(ServiceMethod(rawValue: method), path: path, id: nil, data: data), "call \(path) \(method)")
        case "listen":
            let (path, event) = (try words.next("a service"), try words.next("an event"))
            let property = words.take("since") ? try words.next("a property") : nil
            return (.listen(path: path, EventName(rawValue: event), since: property), "\(path) \(event)")
        case "wait":
            let (count, path, event) = (try words.count(), try words.next("a service"), try words.next("an event"))
            let limit = words.take("within") ? try words.duration() : .seconds(30)
            return (.wait(count, path: path, EventName(rawValue: event), within: limit), "wait \(path) \(event)")
        default:
            throw before.wrong(
                "expected connect, disconnect, together, pause, authenticate, find, get, create, update, patch, remove, call, listen or wait"
            )
        }
    }
}

/// Text with <client>, <number> and <now>.
struct Template: Sendable {
    let text: String
    private let isFixed: Bool

    init(_ text: String) {
        self.text = text
        isFixed = !["<client>", "<number>", "<now>"].contains { text.contains($0) }
    }

    func text(client: Int, number: Int) -> String {
        guard !isFixed else { return text }
        return text.replacing("<client>", with: "\(client)").replacing("<number>", with: "\(number)").replacing(
            "<now>", with: "\(Self.now)")
    }

    /// The time in microseconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1e6) }
}

/// The words of a line that are left to read. Errors name the line and the next word.
private struct Words {
    private var rest: Substring
    private let place: String

    init(_ line: Substring, place: String) {
        self.place = place
        // A # begins a comment only after a blank, because ids and texts may contain it.
        let comment = line.hasPrefix("#") ? line.startIndex : line.firstRange(of: " #")?.lowerBound
        rest = line[..<(comment ?? line.endIndex)]
        trim()
    }

    var isEmpty: Bool { rest.isEmpty }
    var startsWithNumber: Bool { rest.first?.isNumber ?? false }
    var startsWithJSON: Bool { rest.hasPrefix("{") }

    func wrong(_ what: String) -> SwarmError {
        SwarmError(status: 65, message: "\(place): \(isEmpty ? "end of the line" : "'\(word)'"): \(what).")
    }

    private var word: Substring { rest.prefix { !$0.isWhitespace } }

    private mutating func trim() {
        rest = rest.drop { $0.isWhitespace }
        while rest.last?.isWhitespace == true { rest.removeLast() }
    }

    mutating func next(_ what: String) throws -> String {
        guard !isEmpty else { throw wrong("expected \(what)") }
        let word = word
        rest = rest[word.endIndex...]
        trim()
        return String(word)
    }

    mutating func take(_ expected: String) -> Bool {
        guard word == expected else { return false }
        rest = rest.dropFirst(expected.count)
        trim()
        return true
    }

    mutating func require(_ expected: String) throws { if !take(expected) { throw wrong("expected '\(expected)'") } }
    func end() throws { if !isEmpty { throw wrong("unexpected at the end of a step") } }

    mutating func count() throws -> Int {
        guard let count = Int(word), count > 0 else { throw wrong("expected a whole number of at least 1") }
        _ = try next("")
        return count
    }

    mutating func duration() throws -> Duration {
        let digits = word.prefix { $0.isNumber }
        guard let number = Int(digits), number < 1_000_000,
            let unit = ["ms": Duration.milliseconds(1), "s": .seconds(1), "m": .seconds(60)][String(word.dropFirst(digits.count))]
        else { throw wrong("expected a duration such as 250ms, 10s or 2m") }
        _ = try next("")
        return unit * number
    }

    /// The rest of the line, which must be JSON.
    mutating func json() throws -> Template {
        let template = Template(String(rest))
        do {
            _ = try JSONValue(parsing: template.text(client: 1, number: 1))
        } catch {
            throw wrong("expected JSON: \(error)")
        }
        rest = ""
        return template
    }
}
