import FeathersCore
import FeathersTesting
import TestBackend

/// Does something to the connection again and again.
struct ChaosWeather {
    let line: ChaosLine
    let proxy: FaultProxy
    let control: BackendControl
    let journal: ChaosJournal
    private var random: SeededGenerator

    private enum Event: String, CaseIterable {
        case calm, delays, splits, drip, truncates, cut, reset, corrupt, corruptCall, stall, stallShortly, stallDeaf,
            stallMute
        case stallAll, refuse, kick, kill
    }

    init(line: ChaosLine, proxy: FaultProxy, control: BackendControl, journal: ChaosJournal, seed: UInt64) {
        self.line = line
        self.proxy = proxy
        self.control = control
        self.journal = journal
        random = SeededGenerator(seed: seed)
    }

    mutating func run(until end: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < end {
            // Every other time nothing happens for a while, so that there is something to disturb.
            try await pause(100...700)
            var event = Event.allCases.randomElement(using: &random) ?? .calm
            // Plain HTTP has no frames in which wrong bytes show.
            if line == .feathers6, event == .corrupt || event == .corruptCall { event = .reset }
            journal.note { $0.weather[event.rawValue, default: 0] += 1 }
            try await happen(event)
        }
        try await proxy.change(FaultPlan())
        try await proxy.resume()
        try await proxy.accept()
    }

    private mutating func happen(_ event: Event) async throws {
        switch event {
        case .calm: try await proxy.change(FaultPlan())
        case .delays:
            try await proxy.change(
                FaultPlan {
                    $0.toServer.delayMs = 0...20
                    $0.toClient.delayMs = 0...50
                })
        case .splits:
            try await proxy.change(
                FaultPlan {
                    $0.toServer.splitBytes = 1...200
                    $0.toClient.splitBytes = 1...200
                })
        case .drip:
            try await proxy.change(FaultPlan { $0.toClient.bytesPerSecond = 50_000 })
            try await pause(200...600)
            try await proxy.change(FaultPlan())
        case .truncates:
            try await proxy.change(
                FaultPlan {
                    $0.toServer.faults = [Fault(.truncate, .afterBytes(0...60_000), chance: 0.5)]
                    $0.toClient.faults = [
                        Fault(.truncate, .afterBytes(0...60_000), chance: 0.5),
                        Fault(.cut, .afterMs(50...800), chance: 0.3),
                    ]
                })
        case .cut: try await proxy.cut()
        case .reset: try await proxy.reset()
        case .corrupt: try await proxy.corrupt(.toClient)
        case .corruptCall: try await proxy.corrupt(.toServer)
        case .stall: try await proxy.stall()
        case .stallShortly: try await proxy.stall(forMs: Int.random(in: 50...1000, using: &random))
        case .stallDeaf: try await proxy.stall(.toServer)
        case .stallMute: try await proxy.stall(.toClient)
        case .stallAll:
            try await proxy.stall(new: true)
            try await pause(300...1500)
            try await proxy.resume()
        case .refuse: try await proxy.refuse(forMs: Int.random(in: 50...1000, using: &random))
        case .kick where line == .feathers6: try await control.create("control", ["op": "streams", "do": "end"])
        // Streams that are gone without a word.
        case .kill where line == .feathers6: try await control.create("control", ["op": "streams", "do": "mute"])
        case .kick: try await control.create("control", ["op": "disconnect", "close": .bool(.random(using: &random))])
        case .kill: try await control.create("control", ["op": "kill"])
        }
    }

    private mutating func pause(_ milliseconds: ClosedRange<Int>) async throws {
        try await Task.sleep(for: .milliseconds(Int.random(in: milliseconds, using: &random)))
    }
}
