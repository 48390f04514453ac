import Feathers
import Foundation

/// The measurements as a table for people and as JSON for programs.
struct Report {
    let measurements: [Measurement]
    /// What is no time: memory, percentiles.
    let notes: [String]

    var table: String {
        let header = ["benchmark", "ns/op", "CPU ns/op", "per second", "ratio", "CPU ratio", "compared with"]
        let rows = measurements.map { measurement in
            [
                "\(measurement.group): \(measurement.name)",
                Self.grouped(measurement.nanoseconds),
                Self.grouped(measurement.cpuNanoseconds),
                Self.grouped(measurement.perSecond),
                measurement.ratio.map { String(format: "%.2f×", $0) } ?? "",
                measurement.cpuRatio.map { String(format: "%.2f×", $0) } ?? "",
                measurement.reference ?? "",
            ]
        }
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        let lines = ([header] + rows).map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                // Numbers to the right, names to the left.
                return (1...5).contains(column) ? padding + row[column] : row[column] + padding
            }.joined(separator: "  ")
        }
        return (lines + notes).joined(separator: "\n")
    }

    var json: JSONValue {
        [
            "measurements": .array(measurements.map(Self.json)), "notes": .array(notes.map { .string($0) }),
        ]
    }

    private static func json(_ measurement: Measurement) -> JSONValue {
        var object: JSONObject = [
            "group": .string(measurement.group), "name": .string(measurement.name),
            "nanosecondsPerOperation": .number(measurement.nanoseconds), "perSecond": .number(measurement.perSecond),
            "cpuNanosecondsPerOperation": .number(measurement.cpuNanoseconds),
        ]
        if let ratio = measurement.ratio { object["ratio"] = .number(ratio) }
        if let ratio = measurement.cpuRatio { object["cpuRatio"] = .number(ratio) }
        if let reference = measurement.reference { object["comparedWith"] = .string(reference) }
        return .object(object)
    }

    /// A number with its thousands set apart; small ones keep a decimal.
    private static func grouped(_ number: Double) -> String {
        guard number >= 100 else { return String(format: "%.1f", number) }
        var digits = String(Int(number.rounded()))
        var position = digits.count - 3
        while position > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: position))
            position -= 3
        }
        return digits
    }
}
