import Testing

@testable import FeathersSocketIO

@Suite("The upgrade from polling to WebSocket")
struct EngineUpgradeTests {
    @Test("probes, brings polling to rest, switches over")
    func whole() {
        var upgrade = EngineUpgrade()
        #expect(upgrade.webSocketOpened() == .sendProbe)
        #expect(!upgrade.holdsFrames)
        #expect(upgrade.received(.pong("probe")) == .pausePolling)
        #expect(upgrade.holdsFrames)
        #expect(upgrade.pollingPaused() == .switchOver)
        #expect(upgrade.isUpgraded && !upgrade.holdsFrames)
        #expect(upgrade.closeRequested() == .closeWebSocket)
    }

    @Test("stays with polling when the probe fails", arguments: [EnginePacket.pong(""), .noop, .message("a"), .close])
    func wrongAnswer(packet: EnginePacket) {
        var upgrade = EngineUpgrade()
        _ = upgrade.webSocketOpened()
        #expect(upgrade.received(packet) == .abandon("The server did not respond to the probe"))
        #expect(upgrade.received(.pong("probe")) == .nothing)
        #expect(upgrade.pollingPaused() == .nothing)
        #expect(upgrade.closeRequested() == .closePolling)
    }

    @Test("stays with polling when there is no WebSocket")
    func noWebSocket() {
        var upgrade = EngineUpgrade()
        #expect(upgrade.failed("refused") == .abandon("refused"))
        #expect(upgrade.webSocketOpened() == .nothing)
        #expect(upgrade.failed("again") == .nothing)
    }

    @Test("defers a close that comes while polling comes to rest")
    func deferredClose() {
        var upgrade = EngineUpgrade()
        _ = upgrade.webSocketOpened()
        _ = upgrade.received(.pong("probe"))
        #expect(upgrade.closeRequested() == .nothing)
        #expect(upgrade.pollingPaused() == .closeWebSocket)
    }

    @Test("gives the probe up when the session closes before its answer")
    func earlyClose() {
        var upgrade = EngineUpgrade()
        _ = upgrade.webSocketOpened()
        #expect(upgrade.closeRequested() == .closePolling)
        #expect(upgrade.received(.pong("probe")) == .nothing)
    }
}
