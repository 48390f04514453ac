import Foundation

/// The memory of this process that is in use.
enum ResidentMemory {
    /// In bytes; nil where the system does not tell this way.
    static var current: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * 4096 } : nil
    }

    /// How much the last quarter of the samples lies above the second one.
    static func growth(_ samples: [Int]) -> Int {
        let quarter = samples.count / 4
        guard quarter > 0 else { return 0 }
        return median(samples.suffix(quarter)) - median(samples[quarter..<2 * quarter])
    }

    private static func median(_ samples: ArraySlice<Int>) -> Int {
        samples.sorted()[samples.count / 2]
    }
}
