import Feathers
import FeathersJSON
import Foundation

/// Does one thing that a hostile server can make large, in a process of its own, and says how much memory that took.
///
///     MemoryProbe tree UNIT BYTES             parses an array of about so many bytes
///     MemoryProbe rest URL                    asks for the records there
///     MemoryProbe connect URL PATH TRANSPORT  connects once; the transport is polling or webSocket
///     MemoryProbe unread URL PATH READER      connects, and reads no event before the one of `done`;
///                                             the reader is service or raw
///
/// A unit is what the array repeats: zeros, arrays, objects, members, or keys, which makes one object of different
/// keys. The first line of output is what came of it, the second the peak of resident memory in KiB.
@main
struct MemoryProbe {
    static func main() async {
        let arguments = CommandLine.arguments
        var outcome: String
        do { outcome = try await run(arguments[1], Array(arguments.dropFirst(2))) } catch { outcome = "\(error)" }
        outcome.replace("\n", with: " ")
        print(outcome)
        print(peak)
    }

    private static func run(_ thing: String, _ arguments: [String]) async throws -> String {
        switch thing {
        case "tree":
            _ = try JSONValue(parsing: text(of: arguments[0], Int(arguments[1]) ?? 0))
            return "parsed"
        case "rest":
            let app = FeathersApp(transport: .rest(try url(arguments[0])))
            _ = try await app.service("records").find()
            return "answered"
        case "connect":
            try await transport(arguments, over: arguments[2] == "polling" ? .polling : .webSocket).connect()
            return "connected"
        case "unread": return try await unread(transport(arguments, over: .webSocket), isRaw: arguments[2] == "raw")
        default: exit(64)
        }
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw CancellationError() }
        return url
    }

    /// - Parameters:
    ///   - arguments: the URL and the path.
    ///   - engine: what carries it.
    private static func transport(_ arguments: [String], over engine: SocketIOTransport.EngineTransport) throws
        -> SocketIOTransport
    {
        let server = try url(arguments[0])
        return .socketIO(server) { options in
            options.path = arguments[1]
            options.transports = [engine]
            // A busy machine takes its time for what a server may send.
            options.connectTimeout = .seconds(600)
        }
    }

    /// - Returns: how many events waited for the reader, or were given up.
    private static func unread(_ transport: SocketIOTransport, isRaw: Bool) async throws -> String {
        let app = FeathersApp(transport: transport)
        let done = app.service("done").events(.created)
        let raw = isRaw ? transport.events() : nil
        let deliveries = isRaw ? nil : app.service("messages").eventDeliveries()
        return try await withFeathersApp(app) { _ in
            _ = try await done.first()
            if let raw {
                var waiting = 0
                for await event in raw {
                    if event.name == "done created" { break }
                    waiting += 1
                }
                return "\(waiting) waited"
            }
            guard let deliveries, case .gap(let gap) = try await deliveries.first(),
                case .overflow(let dropped) = gap.reason
            else {
                return "nothing was given up"
            }
            return "\(dropped) given up"
        }
    }

    /// The most this process had resident, in KiB.
    private static var peak: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    private static func text(of unit: String, _ size: Int) -> [UInt8] {
        guard unit != "keys" else { return object(size) }
        let units = ["zeros": "0,", "arrays": "[0],", "objects": "{},", "members": #"{"":0},"#]
        let element = Array((units[unit] ?? "null,").utf8)
        var text: [UInt8] = [UInt8(ascii: "[")]
        text.reserveCapacity(size)
        while text.count + element.count <= size { text += element }
        text[text.count - 1] = UInt8(ascii: "]")
        return text
    }

    /// An object of as many different keys as fit.
    private static func object(_ size: Int) -> [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "{")]
        text.reserveCapacity(size)
        var number = 0
        while text.count + 12 <= size {
            text += Array("\"\(String(number, radix: 36))\":0,".utf8)
            number += 1
        }
        text[text.count - 1] = UInt8(ascii: "}")
        return text
    }
}
