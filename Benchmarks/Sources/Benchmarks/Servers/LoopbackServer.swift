/// A minimal HTTP server that sends the same response to every request on a keep-alive connection.
///
/// It does almost nothing, so that only the client is measured.
struct LoopbackServer {
    let port: UInt16

    init(answering body: String) throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        let answer = Array((head + body).utf8)
        port = try LoopbackListener { peer in
            var buffer = [UInt8](repeating: 0, count: 16_384)
            var last: [UInt8] = []
            // Responds after each head, because the benchmarks send no bodies.
            while case let count = peer.receive(into: &buffer), count > 0 {
                last = (last + buffer[..<count]).suffix(4)
                if last == [13, 10, 13, 10], !peer.send(answer) { return }
            }
        }.port
    }
}
