/// A minimal HTTP server that streams as many server-sent events as the request's query says (`?count=100`), one HTTP chunk each, as FeathersJS 6 does.
struct LoopbackStreamServer {
    let port: UInt16

    init() throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        let frame = #"data: {"n":1234,"text":"a token"}"# + "\n\n"
        let chunk = Array("\(String(frame.utf8.count, radix: 16))\r\n\(frame)\r\n".utf8)
        port = try LoopbackListener { peer in
            var buffer = [UInt8](repeating: 0, count: 16_384)
            var request: [UInt8] = []
            while case let count = peer.receive(into: &buffer), count > 0 {
                request += buffer[..<count]
                guard request.suffix(4) == [13, 10, 13, 10] else { continue }
                let line = String(decoding: request.prefix { $0 != 13 }, as: UTF8.self)
                request = []
                let items = line.split(separator: "count=").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? 1
                guard peer.send(head + chunk) else { return }
                var left = items - 1
                while left > 0 {
                    // Several chunks a write, as when tokens arrive faster than packets leave.
                    let burst = min(left, 32)
                    guard peer.send((0..<burst).flatMap { _ in chunk }) else { return }
                    left -= burst
                }
                guard peer.send(Array("0\r\n\r\n".utf8)) else { return }
            }
        }.port
    }
}
