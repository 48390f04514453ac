#if canImport(Darwin)
    public import Foundation
#elseif canImport(Android)
    public import Android
#elseif canImport(Musl)
    public import Musl
#else
    public import Glibc
#endif

/// A value that can be accessed only while its lock is held.
///
/// Use it for state that our own threads share with others. `Mutex` is a bare futex on Linux, which Thread Sanitizer
/// does not recognize, so that it reports false races. This lock is a pthread mutex.
///
/// Unchecked: `value` is accessed only in `withLock`, between `lock` and `unlock`. Both the value and the closure's
/// result are `Sendable`, so no reference to unprotected state can escape. `withLock` is inlinable, so that other
/// modules specialize it, but it is their only access to the value.
public final class Locked<Value: Sendable & ~Copyable>: @unchecked Sendable, CustomReflectable {
    #if canImport(Darwin)
        @usableFromInline let lock = NSLock()
    #else
        /// Allocated, because a mutex must not move. Foundation's lock on Linux holds a second mutex and a condition,
        /// for locking until a date, and takes 208 bytes instead of 48. An idle connection has 30 locks.
        @usableFromInline let lock: UnsafeMutablePointer<pthread_mutex_t> = {
            let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
            lock.initialize(to: pthread_mutex_t())
            pthread_mutex_init(lock, nil)
            return lock
        }()
    #endif
    @usableFromInline var value: Value

    /// Creates a lock around a value.
    public init(_ value: consuming Value) { self.value = value }

    #if !canImport(Darwin)
        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
        }
    #endif

    /// Returns the result of a closure that may read and change the value.
    ///
    /// Inlined: as a generic function, it looks up the metadata of its types at run time, which costs five times as
    /// much as the lock. And public, because Swift 6.3 inlines no `package` function into another module, even if it is
    /// inlinable.
    @inlinable @inline(__always)
    public func withLock<Result: Sendable, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result)
        throws(Failure) -> Result
    {
        #if canImport(Darwin)
            lock.lock()
            defer { lock.unlock() }
        #else
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
        #endif
        return try body(&value)
    }

    /// Hides the value. Reflection would read properties without the lock and copy them, and copying a noncopyable
    /// value crashes the process.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}

/// The value of a lock that only orders what its holders do.
///
/// It has a byte, because the address of nothing is that of whatever follows it, whose accesses Thread Sanitizer would
/// take for accesses to the value.
package struct LockTurn: Sendable {
    private let byte: UInt8 = 0

    package init() {}
}
