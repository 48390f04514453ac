package import Foundation

/// New ids, the date, and the threads of disks. A simulation replaces them, so that it can be repeated exactly.
package struct Surroundings: Sendable {
    package var id: @Sendable () -> UUID
    package var date: @Sendable () -> Date
    package var runOnDisk: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

    package init(
        id: @escaping @Sendable () -> UUID, date: @escaping @Sendable () -> Date,
        runOnDisk: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
    ) {
        (self.id, self.date, self.runOnDisk) = (id, date, runOnDisk)
    }

    private static let replaced = Locked<Surroundings?>(nil)

    /// The surroundings in a simulation; nil in every other process. Set them only while no disk is in use, because
    /// jobs on two threads would overlap.
    package static var simulated: Surroundings? {
        get { replaced.withLock { $0 } }
        set { replaced.withLock { $0 = newValue } }
    }
}

extension UUID {
    /// A new id.
    package static var new: UUID { Surroundings.simulated?.id() ?? UUID() }
}

extension Date {
    /// The date now, or that of a simulation.
    package static var current: Date { Surroundings.simulated?.date() ?? Date() }
}
