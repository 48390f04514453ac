import Foundation

/// What this process uses of the machine.
struct ProcessUsage: Sendable {
    let descriptors: Int
    let threads: Int
    /// Resident bytes.
    let memory: Int
    /// The most bytes that were resident since ``resetPeak()``.
    let peak: Int

    /// nil where the system does not tell this way.
    static var current: ProcessUsage? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        // Lines such as "VmRSS:	  123456 kB".
        let numbers = status.split(separator: "\n").reduce(into: [Substring: Int]()) { numbers, line in
            let words = line.split { $0 == ":" || $0.isWhitespace }
            if words.count > 1 { numbers[words[0]] = Int(words[1]) }
        }
        guard let threads = numbers["Threads"], let memory = numbers["VmRSS"], let peak = numbers["VmHWM"] else {
            return nil
        }
        return ProcessUsage(descriptors: descriptors.count, threads: threads, memory: memory << 10, peak: peak << 10)
    }

    /// Restarts the measurement of the peak, where the system can.
    static func resetPeak() {
        guard let handle = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return }
        try? handle.write(contentsOf: Data("5".utf8))
        try? handle.close()
    }

    /// How much a property has grown from the second quarter of the samples to the last, by their medians.
    static func growth(of property: KeyPath<ProcessUsage, Int>, in samples: [ProcessUsage]) -> Int {
        let quarter = samples.count / 4
        guard quarter > 0 else { return 0 }
        func median(_ part: ArraySlice<ProcessUsage>) -> Int {
            part.map { $0[keyPath: property] }.sorted()[part.count / 2]
        }
        return median(samples.suffix(quarter)) - median(samples[quarter..<2 * quarter])
    }
}
