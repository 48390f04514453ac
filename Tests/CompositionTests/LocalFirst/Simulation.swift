import FeathersSupport
import FeathersTesting
import Foundation

/// Runs everything that this process does on one thread, in an order that only a random seed decides: each step of a
/// task or of a disk is chosen among those that could be next. So a history can be repeated exactly, and it is known
/// when nothing is left to do.
///
/// It takes over the whole process: use it in a process of its own.
enum Simulation {
    private struct State {
        var steps: [@Sendable () -> Void] = []
        var random = SeededGenerator(seed: 0)
        /// Waits until no step is left.
        var resting: CheckedContinuation<Void, Never>?
        var now = Date(timeIntervalSinceReferenceDate: 0)
        var isOver = false
    }

    // Locked because the runtime may call from any thread, although in a simulation there is one.
    private static let state = Locked(State())

    /// Runs an operation and everything it starts.
    static func run(seed: UInt64, _ operation: @escaping @Sendable () async -> Void) {
        state.withLock { $0 = State(random: SeededGenerator(seed: seed)) }
        Surroundings.simulated = Surroundings(id: { id() }, date: { state.withLock { $0.now } }, runOnDisk: { add($0) })
        GlobalExecutor.redirect(true)
        defer {
            GlobalExecutor.redirect(false)
            Surroundings.simulated = nil
        }
        Task {
            await operation()
            state.withLock { $0.isOver = true }
        }
        while let step = nextStep() { step() }
    }

    private static func add(_ step: @escaping @Sendable () -> Void) { state.withLock { $0.steps.append(step) } }

    fileprivate static func add(_ job: UnownedJob) {
        add { job.runSynchronously(on: GlobalExecutor.unowned) }
    }

    /// - Returns: Nil once the operation has ended, and all that it has left behind.
    private static func nextStep() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if !state.steps.isEmpty {
                return state.steps.remove(at: Int.random(in: state.steps.indices, using: &state.random))
            }
            if let resting = state.resting {
                state.resting = nil
                return { resting.resume() }
            }
            precondition(state.isOver, "The simulation waits for something outside of it")
            return nil
        }
    }

    /// Returns when nothing is left to do.
    static func rest() async {
        await withCheckedContinuation { continuation in state.withLock { $0.resting = continuation } }
    }

    /// Lets time pass on the clock of dates.
    static func pass(_ seconds: Double) { state.withLock { $0.now += seconds } }

    private static func id() -> UUID {
        state.withLock { state in unsafeBitCast((state.random.next(), state.random.next()), to: UUID.self) }
    }
}

/// The executor on which tasks run that have no other one.
private enum GlobalExecutor {
    /// The runtime passes a job and its own function. For two pointers, Swift's calling convention is the one of C.
    private typealias Hook = @convention(c) (OpaquePointer, OpaquePointer) -> Void

    /// Lets the simulation run all jobs, or this executor again.
    static func redirect(_ isSimulated: Bool) {
        guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
            preconditionFailure("The runtime has no hook for jobs")
        }
        let hook: Hook = { job, _ in Simulation.add(unsafeBitCast(job, to: UnownedJob.self)) }
        let pointer = unsafeBitCast(hook, to: UnsafeRawPointer.self)
        symbol.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = isSimulated ? pointer : nil
    }

    /// The runtime's name for this executor is the one without an identity.
    static let unowned = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
}

/// The random seed of hash values, which decides the order of sets and dictionaries.
enum RepeatableHashing {
    /// Makes the order of new sets and dictionaries the same in every process. Older ones that are not empty can no
    /// longer be read.
    static func begin() {
        guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "_swift_stdlib_Hashing_parameters") else {
            preconditionFailure("The standard library has no parameters of hash values")
        }
        // Two seeds, and whether hashing is deterministic, so that the address of a set's storage is not mixed in.
        symbol.storeBytes(of: (0, 0), as: (UInt64, UInt64).self)
        symbol.storeBytes(of: true, toByteOffset: 16, as: Bool.self)
    }
}
