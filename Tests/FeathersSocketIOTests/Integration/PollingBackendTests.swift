import FeathersCore
import FeathersNetworking
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

@Suite("A FeathersJS backend over polling", .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(1)))
struct PollingBackendTests {
    @Test("answers calls and sends events")
    func basics() async throws {
        let backend = TestBackend(variables: [:])
        let transport = SocketIOTransport.socketIO(try await backend.url()) { $0.transports = [.polling] }
        let events = Mailbox<ServiceEvent>()
        transport.deliver(to: EventSink { events.put($0) } onGap: { _ in })
        try await transport.connect()
        let created = try await transport.send(ServiceRequest(path: "messages", method: .create, data: ["text": "Hi"]))
        #expect(created["text"] == "Hi")
        #expect(events.waiting.map(\.name) == [.created])
        await transport.disconnect()
        #expect(transport.status == .offline)
    }
}
