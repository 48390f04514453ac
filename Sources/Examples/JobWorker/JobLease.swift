import Feathers
import Foundation

// A lease is two properties of the job: the worker's unique name, and the time until which it has the job. Every write
// to a job has a condition, so that the server applies it only for the worker that has the job.
extension Worker {
    private var now: Int { Int(Date().timeIntervalSince1970 * 1000) }
    private var leaseEnd: Int { now + Int(lease / .milliseconds(1)) }
    private var mine: Query<JSONValue> { .where("state", Job.State.claimed).where("worker", name) }

    /// Whether no worker has a job: it is open, or the lease of its worker has ended.
    func isFree(_ job: JSONValue) -> Bool {
        guard job["state"]?.string == Job.State.claimed.rawValue else { return true }
        return job["leaseEnd"]?.number.map { $0 < Double(now) } ?? false
    }

    /// Claims a job. The server changes it only if it is still as this worker saw it, so only one worker gets it.
    /// - Returns: Whether this worker has the job; false if another worker was first.
    func claim(_ id: ServiceID, asSeen job: JSONValue) async throws -> Bool {
        var seen = Query<JSONValue>.where("state", job["state"] ?? nil)
        if job["state"]?.string == Job.State.claimed.rawValue {
            // A renewed lease has another end.
            seen = seen.where("leaseEnd", job["leaseEnd"] ?? nil)
        }
        do {
            return try await answered(attemptsAfterStop: 0) {
                do {
                    let claim: JSONValue = [
                        "state": .string(Job.State.claimed.rawValue), "worker": .string(self.name),
                        "leaseEnd": JSONValue(self.leaseEnd),
                    ]
                    try await self.jobs.patch(id, with: claim, query: seen)
                    return true
                } catch FeathersError.Code.notFound {
                    // An earlier attempt whose response was lost may have claimed the job.
                    let job = try await self.jobs.get(id)
                    return job["state"]?.string == Job.State.claimed.rawValue && job["worker"]?.string == self.name
                }
            }
        } catch FeathersError.Code.notFound {
            return false
        } catch let error as FeathersError where error.execution != .answered && isStopping {
            // Stopped without a connection. No work has begun.
            return false
        }
    }

    /// Renews the lease of a job until another worker has the job.
    func renewLease(of id: ServiceID) async throws {
        while true {
            try await Task.sleep(for: lease / 3)
            do {
                try await jobs.patch(id, with: ["leaseEnd": JSONValue(leaseEnd)], query: mine)
            } catch FeathersError.Code.notFound {
                return
            } catch is FeathersError {
                // Without a renewal, the work goes on, and so may another worker's after the lease.
            }
        }
    }

    /// Reports the outcome of a job, unless another worker has it now.
    func finish(_ id: ServiceID, _ outcome: [String: String]) async throws {
        do {
            _ = try await answered(attemptsAfterStop: 5) {
                try await self.jobs.patch(id, with: outcome, query: self.mine)
            }
        } catch FeathersError.Code.notFound {
            // An earlier attempt whose response was lost has reported it, or it is another worker's to report.
        } catch let error as FeathersError where error.execution != .answered && isStopping {
            report("Job \(id) is left to others, because its outcome could not be reported: \(error)")
        }
    }

    /// Makes calls until the server responds. Over Socket.IO, each attempt waits for the connection.
    /// - Parameter attemptsAfterStop: How often to try again once the worker is stopped.
    func answered<Result>(attemptsAfterStop: Int, _ call: () async throws -> Result) async throws -> Result {
        var (pause, left) = (Duration.milliseconds(100), attemptsAfterStop)
        while true {
            do {
                return try await call()
            } catch let error as FeathersError where error.execution != .answered {
                if isStopping {
                    guard left > 0 else { throw error }
                    left -= 1
                }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(5))
            }
        }
    }
}
