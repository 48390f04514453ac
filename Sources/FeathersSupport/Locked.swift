package import Foundation

/// A value that can be accessed only while its lock is held.
///
/// Use it for state that our own threads share with others. `Mutex` is a bare futex on Linux, which Thread Sanitizer does not recognize, so that it
/// reports false races. This lock is a pthread mutex.
///
/// Unchecked: `value` is accessed only in `withLock`, between `lock` and `unlock`. Both the value and the closure's result are `Sendable`, so no
/// reference to unprotected state can escape. `withLock` is inlinable, so that other modules specialize it, but it is their only access to the value.
package final class Locked<Value: Sendable & ~Copyable>: @unchecked Sendable, CustomReflectable {
    @usableFromInline let lock = NSLock()
    /// The lock guarantees exclusive access, and recursive locking would deadlock, so the runtime's exclusivity checks are unnecessary.
    @exclusivity(unchecked) @usableFromInline var value: Value

    package init(_ value: consuming Value) { self.value = value }

    /// Inlined: as a generic function, it looks up the metadata of its types at run time, which costs five times as much as the lock.
    @inlinable @inline(__always)
    package func withLock<Result: Sendable, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// Hides the value. Reflection would read properties without the lock and copy them, and copying a noncopyable value crashes the process.
    package var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}
