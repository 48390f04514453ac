/// A table of text with a header row.
struct TextTable {
    enum Alignment { case left, right }

    let header: [String]
    let alignments: [Alignment]
    var rows: [[String]] = []

    init(_ columns: (String, Alignment)...) {
        header = columns.map(\.0)
        alignments = columns.map(\.1)
    }

    /// The table for terminals.
    var text: String {
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        return ([header] + rows).map { row in
            let line = row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return alignments[column] == .right ? padding + row[column] : row[column] + padding
            }.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    /// The table in Markdown.
    var markdown: String {
        let rule = alignments.map { $0 == .right ? "---:" : "---" }
        return ([header, rule] + rows).map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }
}
