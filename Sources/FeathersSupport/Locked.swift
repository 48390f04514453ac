package import Foundation

/// A value that is reached only with its lock held.
///
/// For what threads of our own share with everybody else. `Mutex` is a bare futex on Linux, which Thread Sanitizer does not see: it would report races
/// where there are none. This lock is a pthread mutex.
///
/// Unchecked: `value` is touched in `withLock` alone, between `lock` and `unlock`; as both the value and what leaves the closure are `Sendable`, no
/// reference to unprotected state can escape. Other rooms see into `withLock`, so that it costs them no generics, and have no other way to the value.
package final class Locked<Value: Sendable & ~Copyable>: @unchecked Sendable, CustomReflectable {
    @usableFromInline let lock = NSLock()
    /// Nobody has it beside the one who holds the lock, who would wait for himself for ever: what the runtime checks on every access cannot happen.
    @exclusivity(unchecked) @usableFromInline var value: Value

    package init(_ value: consuming Value) { self.value = value }

    @inlinable
    package func withLock<Result: Sendable, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// Shows nothing of the value. Reflection reads properties without the lock, and copies them: a value that cannot be copied ends the process.
    package var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}
