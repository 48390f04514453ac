import CFloor
import Foundation

/// A minimal Socket.IO server over WebSocket.
///
/// It acknowledges `["create","echo",DATA,{}]` with DATA, `["create","PATTERN",N,{}]` with null after sending N events
/// in an ``EventPattern``, and all other calls with a small record. The id of an event is the time at which it was
/// written, in nanoseconds.
struct LoopbackSocketServer {
    let port: UInt16

    init() throws {
        port = try LoopbackListener { peer in
            var session = Session(peer: peer)
            session.run()
        }.port
    }

    /// A record as the server sends it. Events have the first three properties.
    struct Message: Codable, Sendable {
        var id: Int
        var text: String
        var author: String
        var likes: Int?
        var tags: [String]?
    }

    /// How the server writes events.
    enum EventPattern: String, CaseIterable {
        /// Each event in a write of its own, at the pace of a FeathersJS server. Most events then wake the client.
        case paced
        /// Each event in a write of its own, as fast as possible.
        case burst
        /// 64 events in one write.
        case bundle

        /// The time that a FeathersJS 5.0.24 server on Node takes for an event, measured with a client that only counts
        /// frames.
        static let pace: UInt64 = 14_000
        static let eventsPerBundle = 64
    }

    private struct Session {
        let peer: LoopbackPeer
        var incoming: [UInt8] = []
        var position = 0
        /// Small, because there may be thousands of sessions.
        var buffer = [UInt8](repeating: 0, count: 64 << 10)

        init(peer: LoopbackPeer) {
            self.peer = peer
        }

        mutating func run() {
            guard shakeHands(),
                send(#"0{"sid":"e","upgrades":[],"pingInterval":600000,"pingTimeout":600000,"maxPayload":100000000}"#)
            else {
                return
            }
            while let frame = nextFrame(), frame.opcode != 8 {
                if frame.opcode == 1, !answer(frame.payload) { return }
            }
        }

        /// Handles one Engine.IO packet.
        private mutating func answer(_ packet: [UInt8]) -> Bool {
            guard packet.count >= 2, packet[0] == UInt8(ascii: "4") else { return true }
            if packet[1] == UInt8(ascii: "0") { return send(#"40{"sid":"s"}"#) }
            guard packet[1] == UInt8(ascii: "2"), let open = packet.firstIndex(of: UInt8(ascii: "[")) else {
                return true
            }
            let id = String(decoding: packet[2..<open], as: UTF8.self)
            let arguments = packet[open...]
            if let data = Self.data(of: arguments, to: #"["create","echo","#) {
                return send("43\(id)[null,".utf8 + data + "]".utf8)
            }
            for pattern in EventPattern.allCases {
                guard let data = Self.data(of: arguments, to: #"["create","\#(pattern)","#) else { continue }
                return sendEvents(Int(String(decoding: data, as: UTF8.self)) ?? 0, pattern)
                    && send("43\(id)[null,null]")
            }
            return send(#"43\#(id)[null,{"id":1,"text":"Hello","author":"Ada","likes":3,"tags":["a","b"]}]"#)
        }

        private func sendEvents(_ count: Int, _ pattern: EventPattern) -> Bool {
            var (bundle, start) = ([UInt8](), cfloor_now())
            for number in 0..<count {
                // Waits actively, as a busy server does.
                while pattern == .paced, cfloor_now() < start + EventPattern.pace {}
                start = cfloor_now()
                bundle += Self.frame(
                    Array(#"42["messages created",{"id":\#(start),"text":"Hello","author":"Ada"}]"#.utf8))
                if pattern == .bundle, (number + 1) % EventPattern.eventsPerBundle != 0, number + 1 < count { continue }
                guard peer.send(bundle) else { return false }
                bundle = []
            }
            return true
        }

        /// Returns the data argument of a call with this beginning and an empty query.
        private static func data(of arguments: ArraySlice<UInt8>, to prefix: String) -> ArraySlice<UInt8>? {
            guard arguments.starts(with: prefix.utf8) else { return nil }
            return arguments.dropFirst(prefix.utf8.count).dropLast(",{}]".utf8.count)
        }

        private mutating func shakeHands() -> Bool {
            var head: [UInt8] = []
            while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
                let count = peer.receive(into: &buffer)
                guard count > 0 else { return false }
                head += buffer[..<count]
            }
            let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
            guard
                let key = lines.first(where: { $0.lowercased().hasPrefix("sec-websocket-key:") })?.split(separator: ":")
                    .last
            else {
                return false
            }
            let text = key.trimmingCharacters(in: .whitespaces) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            let accept = Data(SHA1.digest(Array(text.utf8))).base64EncodedString()
            let answer =
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
            return peer.send(Array(answer.utf8))
        }

        private func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        private func send(_ payload: some Collection<UInt8>) -> Bool { peer.send(Self.frame(payload)) }

        /// Returns one text frame.
        private static func frame(_ payload: some Collection<UInt8>) -> [UInt8] {
            var frame: [UInt8] = [0x81]
            switch payload.count {
            case ..<126: frame.append(UInt8(payload.count))
            case ..<65_536: frame += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
            default: frame += [127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
            }
            return frame + payload
        }

        /// Returns the next frame, unmasked; nil at the end.
        private mutating func nextFrame() -> (opcode: UInt8, payload: [UInt8])? {
            guard let head = take(2) else { return nil }
            var count = Int(head[1] & 0x7F)
            if count >= 126 {
                guard let length = take(count == 126 ? 2 : 8) else { return nil }
                count = length.reduce(0) { $0 << 8 | Int($1) }
            }
            guard let mask = take(4), var payload = take(count) else { return nil }
            for index in payload.indices { payload[index] ^= mask[index & 3] }
            return (head[0] & 0x0F, payload)
        }

        private mutating func take(_ count: Int) -> [UInt8]? {
            while incoming.count - position < count {
                if position > 0 {
                    incoming.removeFirst(position)
                    position = 0
                }
                let received = peer.receive(into: &buffer)
                guard received > 0 else { return nil }
                incoming += buffer[..<received]
            }
            defer { position += count }
            return Array(incoming[position..<position + count])
        }
    }
}
