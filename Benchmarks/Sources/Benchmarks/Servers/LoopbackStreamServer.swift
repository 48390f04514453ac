import CFloor

/// A minimal HTTP server that streams as many server-sent events as the request's query says (`?count=100`), one HTTP
/// chunk each, as FeathersJS 6 does.
///
/// `/tokens` is a streamed result. `/sse` is an event stream: a greeting, then the events, then silence until the
/// client leaves. With `pattern=paced`, each event is written by itself, at the pace of a FeathersJS server; otherwise,
/// 32 at a time.
struct LoopbackStreamServer {
    let port: UInt16

    init() throws {
        let head = Array(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        let token = Self.chunk(#"{"n":1234,"text":"a token"}"#)
        let greeting = Self.chunk(#"{"event":"connected","data":{},"path":"sse"}"#)
        let event = Self.chunk(
            #"{"event":"created","data":{"id":1234,"text":"Hello","author":"Ada"},"path":"messages"}"#)
        port = try LoopbackListener { peer in
            var buffer = [UInt8](repeating: 0, count: 16_384)
            var request: [UInt8] = []
            while case let count = peer.receive(into: &buffer), count > 0 {
                request += buffer[..<count]
                guard request.suffix(4) == [13, 10, 13, 10] else { continue }
                let line = String(decoding: request.prefix { $0 != 13 }, as: UTF8.self)
                request = []
                let items = line.split(separator: "count=").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? 1
                let isPaced = line.contains("pattern=paced")
                if line.hasPrefix("GET /sse") {
                    guard peer.send(head + greeting), Self.send(items, of: event, isPaced, to: peer) else { return }
                    continue
                }
                guard peer.send(head + token), Self.send(items - 1, of: token, isPaced, to: peer),
                    peer.send(Array("0\r\n\r\n".utf8))
                else {
                    return
                }
            }
        }.port
    }

    private static func chunk(_ data: String) -> [UInt8] {
        let frame = "data: \(data)\n\n"
        return Array("\(String(frame.utf8.count, radix: 16))\r\n\(frame)\r\n".utf8)
    }

    private static func send(_ count: Int, of chunk: [UInt8], _ isPaced: Bool, to peer: LoopbackPeer) -> Bool {
        var (left, next) = (count, cfloor_now())
        while left > 0 {
            if isPaced {
                while cfloor_now() < next {}
                next = max(next, cfloor_now()) + LoopbackSocketServer.EventPattern.pace
            }
            // Several chunks a write, as when tokens arrive faster than packets leave.
            let burst = isPaced ? 1 : min(left, 32)
            guard peer.send((0..<burst).flatMap { _ in chunk }) else { return false }
            left -= burst
        }
        return true
    }
}
