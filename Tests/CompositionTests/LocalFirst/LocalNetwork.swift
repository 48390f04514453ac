import Feathers
import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync
@testable import FeathersTesting

/// What the server and the network do in a history.
extension LocalHistory {
    // MARK: The server

    /// Executes a call that has arrived, without answering it, or one that comes late.
    func execute(refusing: Bool) {
        if !refusing, !late.isEmpty, chance(1, in: 2) { return executeLate() }
        let calls = process.calls.filter { $0.outcome == nil && (!refusing || $0.key != nil) }
        if let call = pick(calls) { execute(call, refusing: refusing) }
    }

    func executeLate() {
        guard !late.isEmpty else { return }
        let call = late.remove(at: .random(in: late.indices, using: &random))
        report.note("late: \(call.description)")
        let outcome = server.execute(call.request, key: call.key, as: call.user)
        if let change = outcome.change, change.owner == user { outgoing.append(change) }
    }

    func execute(_ call: HeldTransport.Call, refusing: Bool) {
        var refusal: FeathersError?
        if refusing {
            refusal = FeathersError(pick([FeathersError.Code.badRequest, .conflict]) ?? .badRequest, "Refused")
        }
        let outcome = server.execute(call.request, key: call.key, as: call.user, refusal: refusal)
        report.note("\(call.description): \(outcome.result.map { $0["id"] ?? .null })")
        process.held.state.update { state in
            if let index = state.calls.firstIndex(where: { $0.number == call.number }) {
                state.calls[index].outcome = outcome
            }
        }
        if let change = outcome.change, hasConnection, !has(.muted), change.owner == user { outgoing.append(change) }
    }

    func answer() {
        guard let call = pick(process.calls.filter { $0.outcome != nil }) else { return execute(refusing: false) }
        answer(call)
    }

    func answer(_ call: HeldTransport.Call) {
        guard let outcome = call.outcome else { return }
        report.note("\(call.description): \(outcome.result.map { $0["id"] ?? .null })")
        if case .success = outcome.result, let write = process.write(of: call) { writes.ended(write.id) }
        process.held.answer(call)
    }

    /// Loses a response, whether the call was executed or not.
    func lose() {
        let isPortal = has(.portal) && (!has(.lostResponses) || chance(1, in: 2))
        guard has(.lostResponses) || isPortal, var call = pick(process.calls) else { return }
        report.note("\(call.description), \(call.outcome == nil ? "not executed" : "executed"), portal: \(isPortal)")
        call.outcome = isPortal ? LocalServer.Outcome(result: .success(["login": "now"])) : nil
        process.held.answer(call)
    }

    func hear(_ count: Int) {
        if outgoing.isEmpty { foreignChange() }
        guard isOnline else { return }
        for change in outgoing.prefix(count) {
            report.note("\(change.event.name) \(change.event.data)")
            process.connection?.push(change.event)
        }
        outgoing.removeFirst(min(count, outgoing.count))
    }

    // MARK: Connections, processes and users

    func cut() {
        guard isOnline else { return }
        (isOnline, canRecover) = (false, true)
        noteLate()
        if let connection = process.connection { connection.lose() } else { process.held.cut(isDead: false) }
        // What waits for more events before it fetches fails then too, and what is known is shown.
        process.wakeFetches()
    }

    private func noteLate() {
        if has(.lateCalls) { late += process.calls.filter { $0.key != nil && $0.outcome == nil && chance(1, in: 2) } }
    }

    func restore() {
        guard !isOnline else { return }
        isOnline = true
        guard let connection = process.connection else {
            process.held.state.update { $0.isReachable = true }
            return process.wakeAll()
        }
        let isRecovered = canRecover && chance(1, in: 4)
        report.note(isRecovered ? "recovered" : "")
        if !isRecovered { outgoing = [] }
        connection.restore(recovered: isRecovered)
    }

    func kill(isOnline: Bool) async throws {
        noteLate()
        let disk = try await process.kill()
        (self.isOnline, canRecover, outgoing) = (isOnline, false, [])
        writes.endProcess()
        process = try await LocalProcess(
            in: disk, lists, as: user == "nobody" ? nil : user, hasConnection: hasConnection, isOnline: isOnline,
            traits)
        shown = shown.map { _ in nil }
        let (before, there) = (Set(writes.accepted.keys), Set(process.writes.map(\.id)))
        if there != before {
            report.violate(
                "after a kill the outbox holds \(there.count) writes rather than the \(before.count) that were accepted"
            )
        }
        if !process.warnings.withLock(\.isEmpty) {
            report.violate("the store reports \(process.warnings.withLock { $0 })")
        }
    }

    func changeUser() { changeUser(to: pick((Self.users + ["nobody"]).filter { $0 != user }) ?? "alice") }

    func changeUser(to next: String) {
        user = next
        report.note(user)
        (canRecover, outgoing) = (false, [])
        process.held.state.update { $0.user = next }
        if next != "nobody" { writes.takeOver(by: next) }
        process.changeUser(to: next == "nobody" ? nil : Identity(next))
    }

    // MARK: What is sent

    /// Checks the calls that have arrived since the last time.
    func checkArrivals() {
        for call in process.held.takeNew() {
            if let id = writes.provisionalID(in: call.description) {
                report.violate("the provisional id \(id) was sent: \(call.description)")
            }
            guard let write = process.write(of: call) else { continue }
            writes.sent(write.id, key: write.key.text)
            if let fault = writes.fault(of: call, write, on: server) {
                report.violate("\(call.description) \(fault)")
            }
        }
    }
}
