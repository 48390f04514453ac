import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation

@testable import FeathersSocketIO

/// Replays one case: the server's packets as recorded, our transport in the JavaScript client's place.
struct SocketCaseReplay {
    let recordedCase: RecordedSocketCase
    private(set) var findings: [SocketReplayFinding] = []
    /// How many of the client's packets were compared.
    private(set) var compared = 0

    private var clients: [String: ReplayClient] = [:]
    private var clientOfRequest: [Int: String] = [:]
    /// What the recorded polls asked for, by their number.
    private var targets: [Int: String] = [:]
    /// The client whose connection was cut, which comes back with the next one.
    private var cut: ReplayClient?
    private var closedSockets: Set<Int> = []
    private var isOver = false

    private init(_ recordedCase: RecordedSocketCase) {
        self.recordedCase = recordedCase
    }

    /// Replays a case within a limit, so that one that goes on otherwise than recorded does not hold up the others.
    static func of(
        _ recordedCase: RecordedSocketCase, within limit: Duration = .seconds(60),
        on clock: RelativeClock = RelativeClock(ContinuousClock())
    ) async -> SocketCaseReplay {
        do {
            return try await clock.run(
                atMost: limit,
                orThrow: SocketReplayFailure("The client sent nothing more, or heard nothing more, within \(limit)")
            ) {
                var replay = SocketCaseReplay(recordedCase)
                await replay.run()
                return replay
            }
        } catch {
            var replay = SocketCaseReplay(recordedCase)
            replay.note(.failure, recordedCase.call, "\(error)")
            return replay
        }
    }

    private mutating func run() async {
        do {
            try await replay()
        } catch {
            note(.failure, "", "\(error)")
        }
        var ended: Set<ObjectIdentifier> = []
        for client in clients.values where ended.insert(ObjectIdentifier(client)).inserted {
            for violation in client.network.violations { note(.polling, "", violation) }
            await client.end()
        }
    }

    private mutating func replay() async throws {
        guard !recordedCase.wire.isEmpty else { return note(.noTraffic, recordedCase.call, "") }
        guard !recordedCase.isRaw else { return try readRawCase() }
        guard recordedCase.group != "upgrade" else { return note(.otherTransport, recordedCase.call, "") }
        for (index, entry) in recordedCase.wire.enumerated() where !isOver { try await replay(entry, at: index) }
    }

    private mutating func replay(_ entry: RecordedEntry, at index: Int) async throws {
        switch entry {
        case .webSocketRequest(let socket, let target, let headers):
            try await openWebSocket(socket, target, headers, at: index)
        case .webSocketResponse(_, let status):
            if status != "101" { throw SocketReplayFailure("The WebSocket was refused") }
        case .received(let socket, let text):
            guard let text else { return unreadable() }
            let client = try await client(ofSocket: socket)
            client.currentSocket?.deliver(try translated(text, for: client))
            try await check([text], for: client)
        case .sent(let socket, let text):
            guard let text else { return unreadable() }
            try await expect(text, from: try await client(ofSocket: socket), posted: false)
        case .sentClose(let socket):
            guard !closedSockets.contains(socket) else { return }
            closedSockets.insert(socket)
            // The JavaScript client closes without a code, which says the same as 1000.
            try await compare("close 1000", with: try await client(ofSocket: socket), posted: false)
        case .receivedClose(let socket, let code):
            guard closedSockets.insert(socket).inserted else { return }
            try await client(ofSocket: socket).currentSocket?.cut(WebSocketClosure(code: code))
        case .webSocketEnd(let socket, let byServer):
            guard closedSockets.insert(socket).inserted else { return }
            let client = try await client(ofSocket: socket)
            if byServer { cut = client }
            client.currentSocket?.cut()
        case .httpRequest(let number, let method, let target, let headers, let body):
            try await request(number, method, target, headers, body, at: index)
        case .httpResponse(let number, let status, let body): try await respond(number, status, body)
        case .other(let kind): throw SocketReplayFailure("Nothing to replay '\(kind)' with")
        }
    }

    // Connections.

    private mutating func openWebSocket(
        _ socket: Int, _ target: String, _ headers: [(name: String, value: String)], at index: Int
    ) async throws {
        let client: ReplayClient
        if let cut {
            client = cut
            self.cut = nil
        } else {
            let connect = recordedCase.wire[index...].lazy.compactMap { entry in
                if case .sent(socket, let text?) = entry, text.hasPrefix("40") { text } else { nil }
            }.first
            client = try ReplayClient(target: target, headers: headers, connect: connect ?? "40", isPolling: false)
        }
        clients["ws \(socket)"] = client
        let request = try await client.openedSocket().request
        compareRequest(target, headers, with: request.url, request.headers)
    }

    /// A client that was connected in an earlier case.
    private mutating func client(ofSocket socket: Int) async throws -> ReplayClient {
        if let client = clients["ws \(socket)"] { return client }
        let client = try ReplayClient(target: "/socket.io/?EIO=4", headers: [], connect: "40", isPolling: false)
        clients["ws \(socket)"] = client
        try await client.openedSocket().accept()
        return client
    }

    private mutating func request(
        _ number: Int, _ method: String, _ target: String, _ headers: [(name: String, value: String)], _ body: String?,
        at index: Int
    ) async throws {
        targets[number] = target
        guard let sid = Self.sid(of: target) else {
            let connect = recordedCase.wire[index...].lazy.compactMap { entry in
                if case .httpRequest(_, "POST", _, _, let body?) = entry { body } else { nil }
            }.first
            let client = try ReplayClient(target: target, headers: headers, connect: connect ?? "40", isPolling: true)
            clientOfRequest[number] = "request \(number)"
            clients["request \(number)"] = client
            return
        }
        let client = try await client(ofSession: sid)
        clientOfRequest[number] = sid
        // What follows found the recorded poll under way.
        if method == "GET" { try await client.network.polls.peek() }
        guard method == "POST", let body else { return }
        for packet in body.split(separator: "\u{1E}") where !isOver {
            try await expect(String(packet), from: client, posted: true)
        }
    }

    /// The client of a session, opened in an earlier case where this one did not open it.
    private mutating func client(ofSession sid: String) async throws -> ReplayClient {
        if let client = clients[sid] { return client }
        let client = try ReplayClient(target: "/socket.io/?EIO=4", headers: [], connect: "40", isPolling: true)
        clients[sid] = client
        try await client.answerPoll(
            #"0{"sid":"e","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#)
        _ = try await client.nextPosted()
        try await client.answerPoll(#"40{"sid":"s"}"#)
        return client
    }

    private mutating func respond(_ number: Int, _ status: Int, _ body: String?) async throws {
        guard let key = clientOfRequest[number] else {
            // The poll of an earlier case: of the client whose requests this case goes on with.
            let sid = recordedCase.wire.lazy.compactMap { entry in
                if case .httpRequest(_, _, let target, _, _) = entry { Self.sid(of: target) } else { nil }
            }.first
            guard let sid else { throw SocketReplayFailure("An answer to nobody") }
            clientOfRequest[number] = sid
            _ = try await client(ofSession: sid)
            return try await respond(number, status, body)
        }
        guard let client = clients[key], !wasPosted(number) else { return }
        guard let body else { return unreadable() }
        let packets = body.split(separator: "\u{1E}").map(String.init)
        if key.hasPrefix("request "), let handshake = packets.first, handshake.hasPrefix("0") {
            let json = try JSONValue(parsing: String(handshake.dropFirst()))
            clients[json["sid"]?.string ?? ""] = client
        }
        let translated = try packets.map { try self.translated($0, for: client) }
        let url = try await client.answerPoll(translated.joined(separator: "\u{1E}"), status: status)
        if let target = targets[number] { compareTarget(target, with: url) }
        try await check(packets, for: client)
    }

    private func wasPosted(_ number: Int) -> Bool {
        recordedCase.wire.contains { if case .httpRequest(number, "POST", _, _, _) = $0 { true } else { false } }
    }

    private static func sid(of target: String) -> String? {
        target.split(separator: "?").last?.split(separator: "&").first { $0.hasPrefix("sid=") }.map {
            String($0.dropFirst(4))
        }
    }

    // Packets.

    /// Does what makes the client send this packet, and compares it with what ours sends.
    private mutating func expect(_ text: String, from client: ReplayClient, posted: Bool) async throws {
        if text == "41" {
            await client.connected()
            // The recorded client had a poll under way, which the server's answer to the good-bye ends.
            if client.isPolling { try await client.network.polls.peek() }
            Task { await client.transport.disconnect() }
        } else if let call = RecordedCall(text) {
            guard call.packet.id != nil else {
                // Without the message that was too large nothing of what followed from it happens.
                isOver = text.utf8.count > 1_000_000
                return note(.noAnswerWanted, text, "")
            }
            guard text.utf8.count <= 1_000_000 else { return try await refuse(call, client) }
            if call.request == nil { note(.noCounterpart, text, "sent below the transport") }
            client.begin(call)
            let id = client.ourID(of: call.packet.id ?? -1) ?? -1
            return try await compare(call.text(id: id), with: client, posted: posted)
        }
        try await compare(text, with: client, posted: posted)
    }

    private mutating func refuse(_ call: RecordedCall, _ client: ReplayClient) async throws {
        client.begin(call)
        let result = await client.takeCall(call.packet.id ?? -1)?.end()
        note(.refused, call.text, "\(String(describing: result))")
        isOver = true
    }

    private mutating func compare(_ recorded: String, with client: ReplayClient, posted: Bool) async throws {
        let ours = try await client.nextSent(posted: posted)
        compared += 1
        if ours != recorded { note(.packet, recorded, ours) }
    }

    /// The server's packet with our acknowledgement id in place of the recording's.
    private func translated(_ text: String, for client: ReplayClient) throws -> String {
        guard text.hasPrefix("43"), let packet = try? SocketPacketParser.parse(String(text.dropFirst())).packet,
            let id = packet.id,
            let ours = client.ourID(of: id)
        else { return text }
        return "43\(ours)\(text.drop { $0 != "[" })"
    }

    /// Compares what our transport made of the server's packets.
    private mutating func check(_ packets: [String], for client: ReplayClient) async throws {
        for text in packets {
            guard text.hasPrefix("4"), let packet = try? SocketPacketParser.parse(String(text.dropFirst())).packet
            else { continue }
            let arguments = packet.data?.array ?? []
            switch packet.kind {
            case .event:
                guard let expected = ServiceEvent(name: arguments.first?.string ?? "", arguments: arguments) else {
                    continue
                }
                let event = try await client.events.next()
                if event != expected { note(.event, "\(expected)", "\(event)") }
            case .ack:
                guard let id = packet.id, let call = client.takeCall(id) else { continue }
                compareResult(arguments, with: await call.end())
            default: continue
            }
        }
    }

    private mutating func compareResult(_ arguments: [JSONValue], with result: Result<JSONValue, any Error>) {
        switch result {
        case .success(let value):
            if !arguments[0].isNull || value != arguments.dropFirst().first ?? .null {
                note(.result, "\(arguments)", "\(value)")
            }
        case .failure(let error as FeathersError):
            let wire = arguments[0]
            let isSame =
                wire.string == error.message
                || (wire["message"]?.string == error.message
                    && (wire["code"] == nil || wire["code"]?.integer == Int64(error.code.rawValue))
                    && (wire["data"] == nil || wire["data"] == error.data) && wire["errors"] == error.errors
                    && (wire["name"] == nil || wire["name"]?.string == error.name))
            if !isSame { note(.result, "\(arguments)", "\(error)") }
        case .failure(let error): note(.result, "\(arguments)", "\(error)")
        }
    }

    private mutating func compareRequest(
        _ target: String, _ headers: [(name: String, value: String)], with url: URL, _ ours: HTTPHeaders
    ) {
        compareTarget(target, with: url)
        for (name, value) in headers where ReplayClient.ownFields.contains(name.lowercased()) && ours[name] != value {
            note(.header(name), value, ours[name] ?? "(none)")
        }
    }

    /// Compares path and query; the session's id is the server's own.
    private mutating func compareTarget(_ target: String, with url: URL) {
        let ours = String(url.absoluteString.dropFirst("http://127.0.0.1:3030".count))
        if Self.withoutSession(ours) != Self.withoutSession(target) { note(.target, target, ours) }
    }

    private static func withoutSession(_ target: String) -> String {
        target.replacing(/&sid=[^&]*/, with: "&sid=")
    }

    /// A script's case: what the server says must be understood.
    private mutating func readRawCase() throws {
        for entry in recordedCase.wire {
            switch entry {
            case .received(_, let text?):
                if case .message(let message) = try EnginePacket(decoding: text) {
                    _ = try SocketPacketParser.parse(message)
                }
            case .httpResponse(_, 200, let body?)
            where body != "ok" && body.first.map({ "0123456".contains($0) }) == true:
                for packet in try EnginePayload.packets(in: Array(body.utf8)) {
                    if case .message(let message) = packet { _ = try SocketPacketParser.parse(message) }
                }
            default: continue
            }
        }
        note(.scripted, recordedCase.call, "")
    }

    private mutating func unreadable() {
        note(.unreadable, "no words for this case", "")
        isOver = true
    }

    private mutating func note(_ aspect: SocketReplayFinding.Aspect, _ recorded: String, _ ours: String) {
        findings.append(SocketReplayFinding(recordedCase: recordedCase, aspect: aspect, recorded: recorded, ours: ours))
    }
}
