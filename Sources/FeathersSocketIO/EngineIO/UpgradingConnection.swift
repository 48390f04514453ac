import FeathersCore
import FeathersNetworking
import FeathersSupport

/// A session that begins with polling, and moves to a WebSocket as soon as one is open.
final class UpgradingConnection: EngineConnection {
    private struct State {
        var machine = EngineUpgrade()
        /// Frames sent while neither transport accepts any.
        var held: [EngineFrame] = []
        var webSocket: WebSocketEngineConnection?
    }

    private let polling: PollingConnection
    private let openWebSocket: @Sendable () async throws -> WebSocketEngineConnection
    private let state = Locked(State())
    private let probeTimeout: @Sendable () async throws -> Void

    /// Creates a session that starts with `polling`. `probeTimeout` returns when the probe has taken too long.
    init(
        _ polling: PollingConnection, probeTimeout: @escaping @Sendable () async throws -> Void,
        openWebSocket: @escaping @Sendable () async throws -> WebSocketEngineConnection
    ) {
        self.polling = polling
        self.probeTimeout = probeTimeout
        self.openWebSocket = openWebSocket
    }

    var handshake: EngineHandshake { polling.handshake }
    var isUpgraded: Bool { state.withLock { $0.machine.isUpgraded } }

    func run(
        _ handler: @escaping @Sendable (EnginePacket) -> Void, taking take: @escaping WebSocketHandler.TextTaker,
        onStart: () -> Void, onEnd: @escaping @Sendable (EngineClosure) -> Void
    ) async {
        let end = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.probe() }
            let end = await polling.runUntilPaused(handler, onStart: onStart)
            if case .closed = end { group.cancelAll() }
            return end
        }
        guard case .paused(let unsent) = end, let webSocket = state.withLock({ $0.webSocket }) else {
            state.withLock { $0.webSocket }?.close()
            if case .closed(let closure) = end { return onEnd(closure) }
            return onEnd(EngineClosure(reason: .closed))
        }
        await webSocket.run(handler, taking: take, onStart: { switchOver(to: webSocket, unsent: unsent) }, onEnd: onEnd)
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
                    // Polling may have been paused in the meantime. If so, another transport is available.
                    guard error.reason == .closed, state.withLock({ $0.machine.holdsFrames || $0.machine.isUpgraded }) else { throw error }
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

    /// Sends `5`, the frames that polling did not post, and then the held frames. After that, frames go directly to the WebSocket.
    private func switchOver(to webSocket: WebSocketEngineConnection, unsent: [EngineFrame]) {
        var frames = [EnginePacket.upgrade.frame] + unsent
        while true {
            // A failure here means that the WebSocket has ended, which `run` reports.
            try? webSocket.sendNow(frames)
            let action: EngineUpgrade.Action? = state.withLock { state in
                frames = state.held
                state.held = []
                return frames.isEmpty ? state.machine.pollingPaused() : nil
            }
            guard let action else { continue }
            if action == .closeWebSocket { webSocket.close() }
            return
        }
    }

    private func probe() async {
        guard let webSocket = try? await openWebSocket() else {
            _ = state.withLock { $0.machine.failed("The WebSocket could not be opened") }
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
            answer.map { state.machine.received($0) } ?? state.machine.failed("The probe received no response")
        }
        switch action {
        case .pausePolling:
            webSocket.adopt(polling.handshake)
            polling.pause()
        default: webSocket.close()
        }
    }
}

/// The move of a session from polling to a WebSocket: `2probe`, `3probe`, pausing of polling, `5`.
struct EngineUpgrade: Sendable {
    enum Action: Sendable, Hashable {
        case nothing
        case sendProbe
        /// Let the poll and the post in flight end, and start no more.
        case pausePolling
        /// Send `5`, then the held frames, and use the WebSocket from now on.
        case switchOver
        /// Close the WebSocket and stay with polling.
        case abandon(String)
        /// End the session on its current transport.
        case closePolling, closeWebSocket
    }

    private enum State { case idle, probing, pausing, upgraded, abandoned }

    private var state = State.idle
    private var closeIsRequested = false

    /// Whether frames are held, because polling has stopped sending and the WebSocket has not yet started.
    var holdsFrames: Bool { state == .pausing }
    var isUpgraded: Bool { state == .upgraded }

    mutating func webSocketOpened() -> Action {
        guard state == .idle else { return .nothing }
        state = .probing
        return .sendProbe
    }

    mutating func received(_ packet: EnginePacket) -> Action {
        guard state == .probing else { return .nothing }
        guard packet == .pong("probe") else { return failed("The server did not respond to the probe") }
        state = .pausing
        return .pausePolling
    }

    mutating func pollingPaused() -> Action {
        guard state == .pausing else { return .nothing }
        state = .upgraded
        return closeIsRequested ? .closeWebSocket : .switchOver
    }

    /// Handles a WebSocket that could not be opened, was lost, or took too long.
    mutating func failed(_ why: String) -> Action {
        guard state == .idle || state == .probing else { return .nothing }
        state = .abandoned
        return .abandon(why)
    }

    /// Handles a request to end the session. While polling is pausing, the request waits, because neither transport is in use.
    mutating func closeRequested() -> Action {
        switch state {
        case .pausing:
            closeIsRequested = true
            return .nothing
        case .upgraded: return .closeWebSocket
        case .idle, .probing, .abandoned:
            state = .abandoned
            return .closePolling
        }
    }
}
