#if os(Linux)
    import Dispatch
    import FeathersCore
    import Foundation
    import Testing

    @testable import FeathersNetworking
    @testable import FeathersSocketIO

    /// The server's end of a connection of the network thread, over a socket that the test can break.
    private final class Peer: Sendable {
        private let descriptor: Int32
        /// Waits for bytes here, and not on a thread that the client's tasks need.
        private let queue = DispatchQueue(label: "feathers.tests.peer")

        init(owning descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// Opens the session and the namespace as a server does.
        func accept() async {
            deliver(#"0{"sid":"e","upgrades":[],"pingInterval":40000,"pingTimeout":1,"maxPayload":9000}"#)
            #expect(await receive("40".utf8.count) == "40")
            deliver(#"40{"sid":"s"}"#)
        }

        /// Sends a text of less than 126 bytes.
        func deliver(_ text: String) {
            let frame = [0x81, UInt8(text.utf8.count)] + Array(text.utf8)
            #expect(send(descriptor, frame, frame.count, Int32(MSG_NOSIGNAL)) == frame.count)
        }

        /// Waits for a text with this number of bytes, less than 126.
        func receive(_ count: Int) async -> String {
            await withCheckedContinuation { waiter in
                queue.async {
                    var frame = [UInt8](repeating: 0, count: 6 + count)
                    let isWhole = recv(self.descriptor, &frame, frame.count, Int32(MSG_WAITALL)) == frame.count
                    let text = frame[6...].enumerated().map { $1 ^ frame[2 + $0 % 4] }
                    waiter.resume(returning: isWhole ? String(decoding: text, as: UTF8.self) : "")
                }
            }
        }

        /// Refuses everything that the client writes from now on.
        func refuseWrites() { shutdown(descriptor, Int32(SHUT_RD)) }
    }

    /// Opens connections to the test.
    private struct PeerConnector: WebSocketConnector {
        let opened = Mailbox<Peer>()
        let loop: SocketLoop

        func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection {
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { throw CocoaError(.fileReadUnknown) }
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            opened.put(Peer(owning: ends[1]))
            return CurlWebSocketConnection(
                SocketByteStream(owning: ends[0]), early: [], on: loop, host: "peer", maximumMessageSize: 1 << 20,
                closingTimeout: .seconds(5))
        }
    }

    @Suite("Calls made on the network thread", .timeLimit(.minutes(10)))
    struct GatheredCallTests {
        /// A loop of its own: other tests fill the turns of the shared one, and these calls must be made in one turn.
        private static let loop = Result { try SocketLoop.start { NetworkThread.start("feathers-gathered", runsTasks: true, $0) } }

        @Test(
            "may have been executed if they were gathered and could not be written, and are sent again if that was known",
            arguments: [1, 8, 9])
        func writeError(count: Int) async throws {
            let connector = PeerConnector(loop: try Self.loop.get())
            let transport = SocketIOTransport.socketIO(try #require(URL(string: "http://peer"))) {
                ($0.transports, $0.webSocketConnector, $0.callTimeout) = ([.webSocket], connector, nil)
                $0.reconnection.initialDelay = .milliseconds(1)
            }
            async let connecting: Void = transport.connect()
            let first = try await connector.opened.next()
            await first.accept()
            try await connecting
            first.refuseWrites()
            // All of them are made in one turn of the thread: it runs its tasks in order, and none leaves it before it waits for its answer.
            let calls = Task(executorPreference: try Self.loop.get()) {
                await withTaskGroup(of: (Int, Result<JSONValue, any Error>).self) { group in
                    for id in 0..<count {
                        group.addTask {
                            do {
                                let request = ServiceRequest(path: "m", method: .get, id: .integer(Int64(id)))
                                return (id, .success(try await transport.send(request).result))
                            } catch {
                                return (id, .failure(error))
                            }
                        }
                    }
                    return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
            }
            let second = try await connector.opened.next()
            await second.accept()
            // The ninth was made after the eight before it had failed to be written, so it waits for the next connection.
            let ninth = #"428["get","m",8,{}]"#
            if count == 9 {
                #expect(await second.receive(ninth.utf8.count) == ninth)
                second.deliver(#"438[null,"answered"]"#)
            }
            let results = await calls.value
            #expect(results.count == count)
            for (id, result) in results {
                if id == 8 {
                    #expect(try result.get() == "answered")
                } else {
                    let error = #expect(throws: FeathersError.self) { try result.get() }
                    #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
                }
            }
            await transport.disconnect()
        }

        @Test("and on other threads may wait for each other only if at least eight are in flight")
        func hurry() async throws {
            let loop = try SocketLoop.start { NetworkThread.start("feathers-hurry", runsTasks: true, $0) }
            // The thread then leaves alone what this test looks at.
            loop.readAtOnce(true)
            let connector = PeerConnector(loop: loop)
            let transport = SocketIOTransport.socketIO(try #require(URL(string: "http://peer"))) {
                ($0.transports, $0.webSocketConnector, $0.callTimeout) = ([.webSocket], connector, nil)
            }
            async let connecting: Void = transport.connect()
            let peer = try await connector.opened.next()
            await peer.accept()
            try await connecting
            try await withThrowingTaskGroup(of: JSONValue.self) { group in
                for id in 0..<9 {
                    _ = loop.takeHasWritten()
                    group.addTask { try await transport.send(ServiceRequest(path: "m", method: .get, id: .integer(Int64(id)))).result }
                    let text = #"42\#(id)["get","m",\#(id),{}]"#
                    #expect(await peer.receive(text.utf8.count) == text)
                    #expect(loop.takeHasWritten() == (id < 7))
                }
                for id in 0..<9 { peer.deliver(#"43\#(id)[null,\#(id)]"#) }
                let results = try await group.reduce(into: Set<JSONValue>()) { $0.insert($1) }
                #expect(results == Set((0..<9).map { .integer($0) }))
            }
            await transport.disconnect()
        }
    }
#endif
