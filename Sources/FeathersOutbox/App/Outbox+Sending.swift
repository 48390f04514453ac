import FeathersCore
import FeathersSupport
import Foundation

extension Outbox {
    /// What an attempt came to.
    private enum Attempt: Sendable {
        case succeeded(JSONValue)
        case failed(FeathersError)
        /// The app's life ended first.
        case interrupted
    }

    /// Makes one attempt at a write: notes that it begins, calls the service, and notes what came of it.
    func send(_ item: OutboxQueue.Item, in app: FeathersApp) async {
        let id = item.write.id
        let service = options.service(at: item.write.path)
        let isKeyed = service.knowsRepetition(of: item.write)
        do {
            // From here on a process that dies leaves a write that may have been executed.
            try await journal.append(.begun(id))
            // An app that has ended meanwhile sends nothing, which is still known here.
            try Task.checkCancellation()
        } catch {
            if !(error is CancellationError) {
                app.diagnostics.log(.error, .outbox, "nothing is sent, since the outbox cannot be written", error: error)
            }
            return await putOff(item, SendVerdict(.notBegun, isKeyed: isKeyed))
        }
        switch await attempt(item, service, in: app) {
        case .succeeded(let result):
            // Not written it is done all the same: a later process sends it once more with its key, or asks.
            try? await journal.append(.ended(id), isOwed: true)
            finish(id)?.resolve(result)
        case .failed(let error):
            let verdict = SendVerdict(error, isKeyed: isKeyed)
            app.diagnostics.log(
                .notice, .outbox, "\(item.write.method) of \(item.write.path) was not done", [.attempt: .integer(item.attempts)],
                error: error)
            guard case .ask(let reason) = verdict.course else { return await putOff(item, verdict) }
            let failure = OutboxFailure(
                write: item.write, reason: reason, error: error, mayHaveExecuted: item.mayHaveExecuted || verdict.mayHaveExecuted)
            // Not written, it is asked about after a restart as one that nobody knows of.
            try? await journal.append(.failed(id, reason, error, mayHaveExecuted: failure.mayHaveExecuted))
            change { $0.queue.ask(failure) }
        case .interrupted:
            change { $0.queue.interrupt(id, isKeyed: isKeyed) }
        }
    }

    /// Has a write wait for another attempt.
    private func putOff(_ item: OutboxQueue.Item, _ verdict: SendVerdict) async {
        let id = item.write.id
        if !item.mayHaveExecuted, !verdict.mayHaveExecuted {
            // Not written, a later process takes the attempt for one that may have been executed.
            try? await journal.append(.released(id))
        }
        let now = timebase.now
        let moment = change { $0.queue.putOff(id, verdict, at: now, random: Double.random(in: 0..<1)) }
        guard let moment else { return }
        // The write is waiting by now; only its time is kept here.
        try? await timebase.sleep(until: moment)
        let later = timebase.now
        change { $0.queue.timePassed(id, at: later) }
    }

    private func attempt(_ item: OutboxQueue.Item, _ service: OutboxServiceOptions, in app: FeathersApp) async -> Attempt {
        let write = item.write
        do {
            return .succeeded(try await app.service(write.path).respond(to: service.request(for: write, timeout: options.attemptTimeout)))
        } catch let error as FeathersError {
            if let record = await recordMade(by: item, service, refusedWith: error, in: app) { return .succeeded(record) }
            return .failed(error)
        } catch is CancellationError where Task.isCancelled {
            return .interrupted
        } catch {
            return .failed(FeathersError(unexplained: error))
        }
    }

    /// The record that an earlier attempt at a `create` has made, where a repetition is refused because its id is taken.
    private func recordMade(
        by item: OutboxQueue.Item, _ service: OutboxServiceOptions, refusedWith error: FeathersError, in app: FeathersApp
    ) async -> JSONValue? {
        let write = item.write
        guard item.mayHaveExecuted, write.method == .create, error.execution == .answered, [.conflict, .badRequest].contains(error.code),
            let property = service.recordIDProperty, let id = write.data?[property].flatMap({ ServiceID($0) })
        else { return nil }
        let params = Params(route: write.route, timeout: options.attemptTimeout)
        return try? await app.service(write.path).respond(to: ServiceRequest(path: write.path, method: .get, id: id, params: params))
    }
}

extension FeathersError {
    /// An attempt that came to nothing before anything was sent.
    fileprivate static var notBegun: FeathersError {
        FeathersError(.unavailable, "The attempt was not begun", execution: .neverSent)
    }
}
