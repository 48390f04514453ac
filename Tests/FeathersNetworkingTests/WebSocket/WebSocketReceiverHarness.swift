@testable import FeathersNetworking

/// What a receiver makes of bytes that arrive in pieces.
struct Received: Equatable {
    var incoming: [WebSocketIncoming] = []
    var violation: WebSocketViolation?

    /// - Parameter pieces: how many bytes each read brings, the last one again and again.
    init(_ bytes: [UInt8], pieces: [Int] = [.max], maximumMessageSize: Int = 1 << 20, largeText: Int = .max) {
        var receiver = WebSocketReceiver(maximumMessageSize: maximumMessageSize, largeText: largeText)
        bytes.withUnsafeBytes { all in
            var rest = UnsafeRawBufferPointer(all)
            var read = 0
            while !rest.isEmpty {
                var piece = rest.removeFirst(atMost: pieces[min(read, pieces.count - 1)])
                read += 1
                do throws(WebSocketViolation) {
                    while let next = try receiver.next(&piece) { incoming.append(next) }
                } catch {
                    violation = error
                }
            }
        }
    }
}
