import Foundation
import TestBackend

/// How long chaos lasts and where its chance comes from.
enum ChaosSettings {
    static let callers = 64
    static let subscribers = 8

    /// `FEATHERS_CHAOS_SECONDS`, 60 unless set.
    static let duration = Duration.seconds(Int(Environment.value("FEATHERS_CHAOS_SECONDS") ?? "") ?? 60)

    /// `FEATHERS_CHAOS_SEED`, another one in every run unless set.
    static let seed = UInt64(Environment.value("FEATHERS_CHAOS_SEED") ?? "") ?? .random(in: 0..<1_000_000)

    /// Whether nothing else runs in this process, so that its memory is ours alone: so with a duration asked for.
    static let isAlone = Environment.value("FEATHERS_CHAOS_SECONDS") != nil

    /// How long calls may take.
    static let timeouts = 2000...5000

    /// What a busy machine may add to a call's time.
    static let allowance = Duration.seconds(2)

    /// How many bytes may be added between the first half of the time and its end. Other suites, if any run, want some of their own.
    static let memoryGrowth = isAlone ? 24 << 20 : 512 << 20
}
