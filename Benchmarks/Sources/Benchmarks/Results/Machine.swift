import Foundation

/// The machine, software and date of a measurement.
struct Machine: Codable {
    let processor: String
    let cores: Int
    let system: String
    let swift: String
    /// The date, for example 2026-01-31.
    let date: String
    let rounds: Int
    /// The share of the processors used by other processes while this program waited, from 0 to 1; nil if unknown.
    var othersShare: Double?

    /// Whether the results are reliable because the machine was otherwise idle.
    var wasQuiet: Bool { othersShare.map { $0 <= 0.1 } ?? true }

    /// Returns whether times measured on the two machines are comparable.
    func isLike(_ other: Machine) -> Bool {
        processor == other.processor && cores == other.cores && system == other.system
    }

    /// A one-line description of the machine.
    var title: String { "\(processor), \(cores) cores, \(system), Swift \(swift), \(date)" }

    /// A description of the load from other processes.
    var othersInWords: String { "other processes used \(Int(((othersShare ?? 0) * 100).rounded()))% of the machine" }

    /// Returns a description of this machine with today's date.
    static func described(rounds: Int) -> Machine {
        Machine(
            processor: processor, cores: ProcessInfo.processInfo.activeProcessorCount, system: system,
            swift: swiftVersion,
            date: Date.now.formatted(.iso8601.year().month().day()), rounds: rounds)
    }

    #if os(Linux)
        private static var processor: String { field("model name", ":", of: "/proc/cpuinfo") ?? architecture }
        private static var system: String {
            "\(field("PRETTY_NAME", "=", of: "/etc/os-release") ?? "Linux") on \(architecture)"
        }

        /// Returns the share of processor time in use while this process sleeps briefly; nil if unknown.
        static func busyShare() async throws -> Double? {
            let before = processorTimes()
            try await Task.sleep(for: .milliseconds(300))
            let after = processorTimes()
            guard before.count >= 8, after.count == before.count else { return nil }
            // user nice system idle iowait irq softirq steal …; guest time is already included in user.
            let used = (0..<8).map { after[$0] - before[$0] }
            let all = used.reduce(0, +)
            return all > 0 ? Double(all - used[3] - used[4]) / Double(all) : nil
        }

        private static func processorTimes() -> [Int] {
            lines(of: "/proc/stat").first?.split(separator: " ").dropFirst().compactMap { Int($0) } ?? []
        }

        private static func field(_ name: String, _ separator: Character, of path: String) -> String? {
            let line = lines(of: path).first { $0.hasPrefix(name) }
            return line?.split(separator: separator).last.map { $0.trimmingCharacters(in: ["\"", " "]) }
        }

        private static func lines(of path: String) -> [Substring] {
            (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
        }
    #else
        private static var processor: String { output(of: "sysctl", "-n", "machdep.cpu.brand_string") ?? architecture }
        private static var system: String {
            "macOS \(ProcessInfo.processInfo.operatingSystemVersionString) on \(architecture)"
        }
        static func busyShare() async throws -> Double? { nil }
    #endif

    private static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            "another architecture"
        #endif
    }

    /// The version of the toolchain that runs the program, for example 6.3.1.
    private static var swiftVersion: String {
        let words = output(of: "swift", "--version")?.split(whereSeparator: \.isWhitespace) ?? []
        let version = words.firstIndex(of: "version").map { words.index(after: $0) }
        return version.flatMap { words.indices.contains($0) ? String(words[$0]) : nil } ?? "6"
    }

    /// Returns a program's trimmed output; nil if it fails.
    private static func output(of words: String...) -> String? {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil, let data = try? output.fileHandleForReading.readToEnd() else { return nil }
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? nil : text
    }
}
