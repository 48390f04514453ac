import FeathersCore
import Testing

@testable import FeathersREST

@Suite("The data of server-sent events")
struct ServiceEventReaderTests {
    private static func read(_ text: String) -> ServiceEventReader.Content {
        var text = text
        return text.withUTF8 { ServiceEventReader(greetingPath: "/stream").read($0) }
    }

    @Test(
        "is an event, in any order and with any data",
        arguments: [
            (#"{"event":"created","data":{"id":1},"path":"messages"}"#, "messages", "created", ["id": 1]),
            (#"{"path":"/rooms/1/", "data":[1, 2] ,"event":"a\"b","more":1}"#, "rooms/1", "a\"b", [1, 2]),
            (#"{"event":"gone","path":"m\/n"}"#, "m/n", "gone", nil),
            (#"{"event":"connected","path":"other"}"#, "other", "connected", nil),
        ] as [(String, String, String, JSONValue)])
    func events(text: String, path: String, name: String, data: JSONValue) {
        guard case .event(let event) = Self.read(text) else { return #expect(Bool(false), "not an event") }
        #expect(event == ServiceEvent(path: path, name: EventName(rawValue: name), data: data))
        #expect(event.weight == text.utf8.count)
    }

    @Test("is the server's greeting, or nothing", arguments: ["", #"{"event":"connected","path":"stream"}"#])
    func greetings(text: String) { #expect(Self.read(text) == .greeting) }

    @Test(
        "is unusable otherwise",
        arguments: [
            "{}", "[]", "no JSON", #"{"event":"created"}"#, #"{"path":"m"}"#, #"{"event":1,"path":"m"}"#,
            #"{"event":"a","path":"m""#,
        ])
    func unusable(text: String) { #expect(Self.read(text) == .unusable) }
}
