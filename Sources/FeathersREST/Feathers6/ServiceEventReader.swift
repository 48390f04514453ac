import FeathersCore
import Foundation

/// Reads the events of services from the data of server-sent events.
///
/// Most events of a stream differ in nothing but the data of their record. What stands around it, as in `{"event":"created","data":` and
/// `,"path":"messages"}`, is remembered, so that only the record is parsed, where it arrived, and no string is created for the rest.
struct ServiceEventReader: Sendable {
    enum Reading {
        case event(ServiceEvent)
        /// The greeting of the server, or no data.
        case greeting
        case unusable
    }

    private struct Frame: Sendable {
        let head: [UInt8]
        let tail: [UInt8]
        let path: String
        let name: EventName
        /// Whether all readers of the last such event decode it, so that the next one should stay text.
        var isDecoded = false

        func surrounds(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
            guard let start = text.baseAddress, text.count > head.count + tail.count else { return false }
            return memcmp(start, head, head.count) == 0 && memcmp(start + text.count - tail.count, tail, tail.count) == 0
        }

        /// Returns nil if the data is not valid JSON by itself.
        func event(in text: UnsafeBufferPointer<UInt8>) -> ServiceEvent? {
            let data = UnsafeBufferPointer(rebasing: text[head.count..<text.count - tail.count])
            return try? ServiceEvent(path: path, name: name, parsing: data, keepsText: isDecoded, weight: text.count)
        }
    }

    /// More than an app subscribes to. Beyond it, the frames are collected again.
    private static let limit = 32
    /// The maximum size in bytes of a name and a path together that are remembered. A server could send names of any size.
    private static let longestName = 512

    private let greetingPath: String
    private var frames: [Frame] = []
    /// The index of the last event's frame, which is usually the next one's too.
    private var last = 0

    /// - Parameter greetingPath: The path of the event stream, at which the server greets.
    init(greetingPath: String) { self.greetingPath = FeathersApp.stripSlashes(greetingPath) }

    mutating func read(_ text: UnsafeBufferPointer<UInt8>) -> Reading {
        if text.isEmpty { return .greeting }
        if !(last < frames.count && frames[last].surrounds(text)) { last = frames.firstIndex { $0.surrounds(text) } ?? frames.count }
        if last < frames.count, let event = frames[last].event(in: text) { return .event(event) }
        guard let json = try? JSONValue(parsingLossily: text), let name = json["event"]?.string, let path = json["path"]?.string else {
            return .unusable
        }
        let servicePath = FeathersApp.stripSlashes(path)
        if name == "connected", servicePath == greetingPath { return .greeting }
        remember(name, path, servicePath)
        var event = ServiceEvent(path: servicePath, name: EventName(rawValue: name), data: json["data"] ?? .null)
        event.weight = text.count
        return .event(event)
    }

    /// Remembers what stands around the data if the members are in the order in which FeathersJS 6 writes them. Between these two texts, valid JSON
    /// can be nothing but the data.
    private mutating func remember(_ name: String, _ path: String, _ servicePath: String) {
        guard name.utf8.count + path.utf8.count <= Self.longestName, Self.isPlain(name), Self.isPlain(path) else { return }
        let (head, tail) = (Array(#"{"event":"\#(name)","data":"#.utf8), Array(#","path":"\#(path)"}"#.utf8))
        if frames.contains(where: { $0.head == head && $0.tail == tail }) { return }
        if frames.count == Self.limit { frames = [] }
        frames.append(Frame(head: head, tail: tail, path: servicePath, name: EventName(rawValue: name)))
    }

    /// Sets whether later events at a path should stay text.
    mutating func setDecoded(_ isDecoded: Bool, at path: String) {
        for index in frames.indices where frames[index].isDecoded != isDecoded && frames[index].path == path {
            frames[index].isDecoded = isDecoded
        }
    }

    /// Whether a JSON string has these characters as they are.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
