import FeathersCore
import FeathersNetworking
import FeathersREST
import FeathersSocketIO
import Foundation
import Testing

/// What chaos reigns over.
enum ChaosLine: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case webSocket, polling, feathers6

    var testDescription: String { rawValue }

    /// A transport through a proxy.
    /// - Parameter mark: held by the transport's client until it is released.
    func transport(_ proxy: URL, holding mark: any AnyObject & Sendable) -> any RealTimeTransport {
        guard self != .feathers6 else {
            return Feathers6Transport.feathers6(proxy.appending(path: "v6")) {
                $0.onUnusableEvent = { _ in withExtendedLifetime(mark) {} }
                // With connections of its own, which end with it.
                $0.httpClient = PlatformHTTPClient.make(isShared: false)
                $0.connectTimeout = .seconds(2)
                $0.reconnection = .soon
                // There are events all the time, so that silence means a stalled connection.
                $0.silenceLimit = .seconds(2)
            }
        }
        return SocketIOTransport.socketIO(proxy) {
            $0.onDiagnostic = { _ in withExtendedLifetime(mark) {} }
            $0.transports = self == .polling ? [.polling] : [.webSocket]
            $0.connectTimeout = .seconds(2)
            $0.reconnection = .soon
            $0.reconnection.retriesAfterRefusal = true
        }
    }
}
