import Foundation

/// The processor time of a thread, which does not depend on what else the machine does.
package enum ThreadTime {
    /// The processor time that the current thread has used, in seconds.
    package static var used: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The processor time that some work on the current thread needs, in seconds.
    package static func measure(_ work: () throws -> Void) rethrows -> Double {
        let start = used
        try work()
        return used - start
    }
}
