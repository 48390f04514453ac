import FeathersCore
import FeathersNetworking
import FeathersSupport

/// A session that begins with polling and moves to a WebSocket as soon as one stands.
final class UpgradingConnection: EngineConnection {
    private struct State {
        var machine = EngineUpgrade()
        /// What was sent while neither transport takes it.
        var held: [EngineFrame] = []
        var webSocket: WebSocketEngineConnection?
    }

    private let polling: PollingConnection
    /// Opens the WebSocket of this session.
    private let openWebSocket: @Sendable () async throws -> WebSocketEngineConnection
    private let state = Locked(State())
    private let probeTimeout: @Sendable () async throws -> Void

    /// - Parameter probeTimeout: returns when the probe has taken too long.
    init(
        _ polling: PollingConnection, probeTimeout: @escaping @Sendable () async throws -> Void,
        openWebSocket: @escaping @Sendable () async throws -> WebSocketEngineConnection
    ) {
        self.polling = polling
        self.probeTimeout = probeTimeout
        self.openWebSocket = openWebSocket
    }

    var handshake: EngineHandshake { polling.handshake }

    /// Whether the session has moved.
    var isUpgraded: Bool { state.withLock { $0.machine.isUpgraded } }

    func run(_ handler: @escaping @Sendable (EnginePacket) -> Void) async -> EngineClosure {
        let end = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.probe() }
            let end = await polling.runUntilPaused(handler)
            if case .closed = end { group.cancelAll() }
            return end
        }
        guard case .paused(let unsent) = end, let webSocket = state.withLock({ $0.webSocket }) else {
            state.withLock { $0.webSocket }?.close()
            if case .closed(let closure) = end { return closure }
            return EngineClosure(reason: .closed)
        }
        if switchOver(to: webSocket, unsent: unsent) == .closeWebSocket { webSocket.close() }
        return await webSocket.run(handler)
    }

    func sendNow(_ frames: [EngineFrame]) throws(EngineSendError) {
        enum Way { case polling, webSocket(WebSocketEngineConnection), held }
        while true {
            let way: Way = state.withLock { state in
                if state.machine.holdsFrames {
                    state.held += frames
                    return .held
                }
                if state.machine.isUpgraded, let webSocket = state.webSocket { return .webSocket(webSocket) }
                return .polling
            }
            switch way {
            case .held: return
            case .webSocket(let webSocket): return try webSocket.sendNow(frames)
            case .polling:
                do throws(EngineSendError) {
                    return try polling.sendNow(frames)
                } catch {
                    // Polling may have come to rest in between; then there is another way.
                    guard state.withLock({ $0.machine.holdsFrames || $0.machine.isUpgraded }) else { throw error }
                }
            }
        }
    }

    func close() {
        let (action, webSocket) = state.withLock { ($0.machine.closeRequested(), $0.webSocket) }
        switch action {
        case .closePolling:
            webSocket?.close()
            polling.close()
        case .closeWebSocket: webSocket?.close()
        default: break
        }
    }

    /// Sends `5`, what polling has left and what has waited, in this order; from then on frames go straight to the WebSocket.
    private func switchOver(to webSocket: WebSocketEngineConnection, unsent: [EngineFrame]) -> EngineUpgrade.Action {
        var frames = [EnginePacket.upgrade.frame] + unsent
        while true {
            // A failure here is the WebSocket's end, which `run` reports.
            try? webSocket.sendNow(frames)
            let action: EngineUpgrade.Action? = state.withLock { state in
                frames = state.held
                state.held = []
                return frames.isEmpty ? state.machine.pollingPaused() : nil
            }
            if let action { return action }
        }
    }

    private func probe() async {
        guard let webSocket = try? await openWebSocket() else {
            _ = state.withLock { $0.machine.failed("No WebSocket could be opened") }
            return
        }
        state.withLock { $0.webSocket = webSocket }
        guard state.withLock({ $0.machine.webSocketOpened() }) == .sendProbe else { return webSocket.close() }
        let isOver = Promise<Void>()
        polling.expectProbe(isOver)
        defer { isOver.resolve(()) }
        try? webSocket.sendNow([EnginePacket.ping("probe").frame])
        let answer = await withTaskGroup(of: EnginePacket?.self) { group in
            group.addTask { try? await webSocket.nextPacket() }
            group.addTask { [probeTimeout] in
                try? await probeTimeout()
                return nil
            }
            defer { group.cancelAll() }
            return await group.next().flatMap(\.self)
        }
        let action = state.withLock { state in
            answer.map { state.machine.received($0) } ?? state.machine.failed("The probe was not answered")
        }
        switch action {
        case .pausePolling:
            webSocket.adopt(polling.handshake)
            polling.pause()
        default: webSocket.close()
        }
    }
}
