import Foundation

/// What a run has measured, and where: as it is kept in a file and printed for programs.
struct Results: Codable {
    var machine: Machine
    var measurements: [Measurement] = []
    var growth: [GrowthMeasurement] = []
    /// What is no time: memory, percentiles.
    var notes: [String] = []

    init(machine: Machine) {
        self.machine = machine
    }

    /// Reads a result that was kept.
    /// - Throws: ``ResultError`` naming the file and what is wrong with it.
    init(contentsOf file: URL) throws {
        guard let data = try? Data(contentsOf: file) else {
            throw ResultError("There is no result at \(file.path); '--save' keeps one")
        }
        do {
            self = try JSONDecoder().decode(Results.self, from: data)
        } catch {
            throw ResultError("\(file.path) is no result that this program has kept")
        }
    }

    /// Pretty and in a stable order, so that changes of a kept result can be read.
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

    /// A measurement by its names; nil where it was not measured.
    func measurement(_ group: String, _ name: String) -> Measurement? {
        measurements.first { $0.group == group && $0.name == name }
    }
}

/// What is wrong with a kept result, or with what was made of it.
struct ResultError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
