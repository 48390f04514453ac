import Foundation

/// The results of a run, as stored in a file and printed as JSON.
struct Results: Codable {
    var machine: Machine
    var measurements: [Measurement] = []
    var growth: [GrowthMeasurement] = []
    /// Results that aren't benchmarks: memory and percentiles.
    var notes: [String] = []

    init(machine: Machine) {
        self.machine = machine
    }

    /// Reads a stored result.
    /// - Throws: ``ResultError``, which names the file and the problem.
    init(contentsOf file: URL) throws {
        guard let data = try? Data(contentsOf: file) else {
            throw ResultError("There is no result at '\(file.path)'; create one with '--save'")
        }
        do {
            self = try JSONDecoder().decode(Results.self, from: data)
        } catch {
            throw ResultError("'\(file.path)' is not a result file of this program")
        }
    }

    /// Formatted JSON with sorted keys, so that diffs of a stored result are readable.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    func write(to file: URL) throws {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("\(json)\n".utf8).write(to: file, options: .atomic)
    }

    /// Returns this result with the groups of a later one of the same machine in the place of its own, and a note that
    /// says when those were measured.
    func replacing(_ later: Results) throws(ResultError) -> Results {
        guard machine.isLike(later.machine) else {
            throw ResultError("The stored result is of another machine: measure all groups")
        }
        let note = "measured on \(later.machine.date), the median of \(later.machine.rounds) rounds"
        let groups = Set(later.measurements.map(\.group) + later.growth.map(\.group))
        var results = self
        results.measurements = measurements.filter { !groups.contains($0.group) } + later.measurements
        results.growth = growth.filter { !groups.contains($0.group) } + later.growth
        // A group has the notes of its last measurement only.
        results.notes = notes.filter { note in !groups.contains { note.hasPrefix("\($0): ") } } + later.notes
        results.notes += groups.sorted().map { "\($0): \(note)" }
        // Growth is processor time, which other load does not affect.
        if !later.measurements.isEmpty, let share = later.machine.othersShare {
            results.machine.othersShare = max(share, machine.othersShare ?? 0)
        }
        return results
    }

    /// Returns the measurement with this group and name; nil if it wasn't measured.
    func measurement(_ group: String, _ name: String) -> Measurement? {
        measurements.first { $0.group == group && $0.name == name }
    }
}

/// An error in a stored result, or in the files generated from it.
struct ResultError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
