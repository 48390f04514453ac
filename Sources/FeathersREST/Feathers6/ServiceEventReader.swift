import FeathersCore
import Foundation

/// Reads the events of services from the data of server-sent events.
///
/// Most events of a stream differ in nothing but the data of their record. What stands around it, as in `{"event":"created","data":` and
/// `,"path":"messages"}`, is remembered. The records between are gathered as one JSON array, which is checked here and read where the events are: memory
/// that one thread allocates for each event, and another one frees, took a third of the time of a burst.
struct ServiceEventReader: Sendable {
    private final class Frame: Sendable {
        let head: [UInt8]
        let tail: [UInt8]
        let path: String
        let name: EventName

        init(_ name: String, _ path: String, servicePath: String) {
            (head, tail) = (Array(#"{"event":"\#(name)","data":"#.utf8), Array(#","path":"\#(path)"}"#.utf8))
            (self.path, self.name) = (servicePath, EventName(rawValue: name))
        }

        func surrounds(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
            guard let start = text.baseAddress, text.count > head.count + tail.count else { return false }
            return memcmp(start, head, head.count) == 0 && memcmp(start + text.count - tail.count, tail, tail.count) == 0
        }
    }

    /// More than an app subscribes to. Beyond it, the frames are collected again.
    private static let limit = 32
    /// The maximum size in bytes of a name and a path together that are remembered. A server could send names of any size.
    private static let longestName = 512
    /// The number of bytes of records that are gathered. An event that waits for its reader keeps all of them.
    private static let gatheredLimit = 64 << 10

    private let greetingPath: String
    private var frames: [Frame] = []
    /// The index of the last event's frame, which is usually the next one's too.
    private var last = 0
    private var events: [ServiceEvent] = []
    private var unusableCount = 0
    /// Records of one service that are yet to become events, each after a comma.
    private var records: [UInt8] = []
    private var places: [(range: Range<Int>, frame: Frame)] = []

    /// - Parameter greetingPath: The path of the event stream, at which the server greets.
    init(greetingPath: String) { self.greetingPath = FeathersApp.stripSlashes(greetingPath) }

    mutating func read(_ text: UnsafeBufferPointer<UInt8>) {
        if text.isEmpty { return }
        if !(last < frames.count && frames[last].surrounds(text)) { last = frames.firstIndex { $0.surrounds(text) } ?? frames.count }
        guard last < frames.count else {
            finishRecords()
            return readWhole(text)
        }
        let frame = frames[last]
        if let first = places.first, first.frame.path != frame.path || records.count + text.count > Self.gatheredLimit { finishRecords() }
        records.append(UInt8(ascii: ","))
        let start = records.count
        records.append(contentsOf: text[frame.head.count..<text.count - frame.tail.count])
        places.append((start..<records.count, frame))
    }

    /// Takes the events that were read, in order, and counts the data that could not be used.
    mutating func takeEvents() -> (events: [ServiceEvent], unusableCount: Int) {
        finishRecords()
        defer { (events, unusableCount) = ([], 0) }
        return (events, unusableCount)
    }

    /// Makes events of the records.
    private mutating func finishRecords() {
        guard !places.isEmpty else { return }
        let elements = elements()
        for (index, (range, frame)) in places.enumerated() {
            let weight = range.count + frame.head.count + frame.tail.count
            if let elements {
                events.append(ServiceEvent(path: frame.path, name: frame.name, data: elements[index], weight: weight))
            } else if let data = try? JSONValue(parsing: records[range]) {
                add(ServiceEvent(path: frame.path, name: frame.name, data: data), weight)
            } else {
                (frame.head + records[range] + frame.tail).withUnsafeBufferPointer { readWhole($0) }
            }
        }
        places.removeAll(keepingCapacity: true)
        records.removeAll(keepingCapacity: records.count <= Self.gatheredLimit)
    }

    /// Returns the records; nil if any of them is not valid JSON by itself, or better read as a tree.
    private mutating func elements() -> [JSONElement]? {
        records[0] = UInt8(ascii: "[")
        records.append(UInt8(ascii: "]"))
        guard let tape = try? JSONTape.marking(records), let elements = JSONElement.elements(of: tape) else { return nil }
        // With commas and brackets of its own, a record could be more than one value, or a part of one.
        return elements.lazy.map(\.start).elementsEqual(places.lazy.map(\.range.lowerBound)) ? elements : nil
    }

    private mutating func add(_ event: ServiceEvent, _ weight: Int) {
        events.append(event)
        events[events.count - 1].weight = weight
    }

    /// Reads an event of any form.
    private mutating func readWhole(_ text: UnsafeBufferPointer<UInt8>) {
        var reader = JSONTreeReader(within: text)
        guard let json = try? JSONValue(parsingLossily: text, with: &reader), let name = json["event"]?.string,
            let path = json["path"]?.string
        else {
            unusableCount += 1
            return
        }
        let servicePath = FeathersApp.stripSlashes(path)
        if name == "connected", servicePath == greetingPath { return }
        remember(name, path, servicePath)
        add(ServiceEvent(path: servicePath, name: EventName(rawValue: name), data: json["data"] ?? .null), text.count)
    }

    /// Remembers what stands around the data if the members are in the order in which FeathersJS 6 writes them. Between these two texts, valid JSON
    /// can be nothing but the data.
    private mutating func remember(_ name: String, _ path: String, _ servicePath: String) {
        guard name.utf8.count + path.utf8.count <= Self.longestName, Self.isPlain(name), Self.isPlain(path) else { return }
        let frame = Frame(name, path, servicePath: servicePath)
        if frames.contains(where: { $0.head == frame.head && $0.tail == frame.tail }) { return }
        if frames.count == Self.limit { frames = [] }
        frames.append(frame)
    }

    /// Whether a JSON string has these characters as they are.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
