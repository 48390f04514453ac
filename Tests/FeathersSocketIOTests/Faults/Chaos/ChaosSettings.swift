import Foundation
import TestBackend

/// How long chaos lasts and where its chance comes from.
enum ChaosSettings {
    static let callers = 64
    static let subscribers = 8

    static let duration = Duration.seconds(Environment.count ?? 60)

    /// Another one in every run unless set.
    static let seed = Environment.seed ?? .random(in: 0..<1_000_000)

    /// Whether nothing else runs in this process, so that its memory is ours alone: so with a duration asked for.
    static let isAlone = Environment.count != nil

    /// How long calls may take.
    static let timeouts = 2000...5000

    /// How long the task sleeps that looks for calls that have not ended by their deadlines.
    static let watchInterval = Duration.milliseconds(50)

    /// How often it may see the same one, which is 2 seconds while tasks are woken in time. Beside other suites on a
    /// busy machine, the task that looks is as late as the calls, so that their own lateness is judged and not the
    /// machine's.
    static let sightings = 40

    /// How many bytes may be added between the first half of the time and its end. Other suites, if any run, want some
    /// of their own.
    static let memoryGrowth = isAlone ? 24 << 20 : 512 << 20
}
