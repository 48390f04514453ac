import FeathersCore
import Foundation

/// What becomes of attempts.
extension OutboxQueue {
    /// An attempt has succeeded, or a write was given up: it is done with.
    mutating func remove(_ id: UUID) {
        guard let item = items.removeValue(forKey: id) else { return }
        if case .sending = item.stage {
            sendingCount -= 1
            gate.reached()
        }
        let lane = item.write.lane
        lanes[lane]?.removeAll { $0 == id }
        if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
        refreshLane(lane)
    }

    /// An attempt has failed and nobody needs to decide.
    /// - Returns: when to look again; nil where that depends on something else.
    mutating func putOff(_ id: UUID, _ verdict: SendVerdict, at now: Duration, random: Double) -> Duration? {
        guard case .sending(let signIns)? = endAttempt(id, mayHaveExecuted: verdict.mayHaveExecuted) else { return nil }
        var moment: Duration?
        switch verdict.course {
        case .waitForServer:
            moment = gate.missed(at: now, retry, random: random)
        case .waitForSignIn:
            gate.reached()
            gate.refused(signIns: signIns)
        case .retry(let asked):
            gate.reached()
            items[id]?.delays += 1
            let until = now + max(retry.delay(after: items[id]?.delays ?? 1, random: random), asked ?? .zero)
            items[id]?.stage = .retrying(at: until)
            moment = until
        case .ask: break
        }
        if let lane = items[id]?.write.lane { refreshLane(lane) }
        return moment
    }

    /// An attempt has failed and somebody needs to decide.
    mutating func ask(_ failure: OutboxFailure) {
        let id = failure.write.id
        guard case .sending? = endAttempt(id, mayHaveExecuted: failure.mayHaveExecuted) else { return }
        if failure.reason == .unknown { gate.suspect() } else { gate.reached() }
        fail(id, failure)
    }

    /// An attempt was given up with the app's life: nobody knows what became of it.
    mutating func interrupt(_ id: UUID, isKeyed: Bool) {
        guard case .sending? = endAttempt(id, mayHaveExecuted: true), let write = items[id]?.write else { return }
        if isKeyed { refreshLane(write.lane) } else { fail(id, OutboxFailure(interrupted: write)) }
    }

    /// Time has passed: what was put off until now may be sent.
    mutating func timePassed(_ id: UUID, at now: Duration) {
        guard case .retrying(let moment)? = items[id]?.stage, moment <= now else { return }
        items[id]?.stage = .waiting
        if let lane = items[id]?.write.lane { refreshLane(lane) }
    }

    private mutating func endAttempt(_ id: UUID, mayHaveExecuted: Bool) -> Stage? {
        guard let stage = items[id]?.stage, case .sending = stage else { return nil }
        sendingCount -= 1
        items[id]?.stage = .waiting
        if mayHaveExecuted { items[id]?.mayHaveExecuted = true }
        return stage
    }
}
