/// The changes that a run makes in its folder. Files that the generator did not write are never touched.
package struct OutputPlan: Sendable {
    /// The files to write, with their text.
    package private(set) var written: [(name: String, text: String)] = []
    /// The generated files whose services no longer exist.
    package private(set) var removed: [String] = []
    /// The names that are taken by files that were not generated.
    package private(set) var refused: [String] = []
    private var previous: [String: String] = [:]

    /// - Parameters:
    ///   - files: The generated files.
    ///   - present: The Swift files in the folder, with their text.
    ///   - isSample: Whether the files are guesses about some of the services. If so, the files of other services are
    ///     kept, and a file is not written only because of a changed comment, since comments count records.
    package init(files: [String: String], present: [String: String], isSample: Bool = false) {
        previous = present
        func compared(_ text: String) -> String {
            let body = GeneratedHeader.body(of: text)
            guard isSample else { return String(body) }
            return body.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("///") }.joined(
                separator: "\n")
        }
        for (name, text) in files.sorted(by: { $0.key < $1.key }) {
            guard let before = present[name] else {
                // On many systems, two names that differ only in case are the same file.
                if let other = present.keys.first(where: { $0.lowercased() == name.lowercased() }),
                    !GeneratedHeader.begins(present[other] ?? "")
                {
                    refused.append(other)
                } else {
                    written.append((name, text))
                }
                continue
            }
            if !GeneratedHeader.begins(before) {
                refused.append(name)
            } else if compared(before) != compared(text) {
                written.append((name, text))
            }
        }
        guard !isSample else { return }
        removed = present.keys.filter { files[$0] == nil && GeneratedHeader.begins(present[$0] ?? "") }.sorted()
    }

    /// Whether the run changes nothing.
    package var isEmpty: Bool { written.isEmpty && removed.isEmpty && refused.isEmpty }

    /// The changes as text for people to read.
    package var difference: String {
        var text = ""
        for (name, new) in written {
            let old = previous[name].map { GeneratedHeader.body(of: $0) } ?? ""
            text += previous[name] == nil ? "new: \(name)\n" : "changed: \(name)\n"
            if previous[name] != nil {
                text += TextDifference(from: old, to: GeneratedHeader.body(of: new)).description
            }
        }
        for name in removed { text += "gone: \(name)\n" }
        for name in refused { text += "in the way: \(name), which was not generated\n" }
        return text
    }
}

/// The lines that differ between two texts, below the declarations they are in.
struct TextDifference: CustomStringConvertible {
    private enum Line {
        case kept(Substring)
        case removed(Substring)
        case added(Substring)
    }

    private let lines: [Line]

    init(from old: some StringProtocol, to new: some StringProtocol) {
        let before = Substring(old).split(separator: "\n", omittingEmptySubsequences: false)
        let after = Substring(new).split(separator: "\n", omittingEmptySubsequences: false)
        let difference = after.difference(from: before)
        var (removed, inserted) = (Set<Int>(), Set<Int>())
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var (lines, left, right) = ([Line](), 0, 0)
        while left < before.count || right < after.count {
            if left < before.count, removed.contains(left) {
                lines.append(.removed(before[left]))
                left += 1
            } else if right < after.count, inserted.contains(right) {
                lines.append(.added(after[right]))
                right += 1
            } else if right < after.count {
                lines.append(.kept(after[right]))
                (left, right) = (left + 1, right + 1)
            } else {
                left += 1
            }
        }
        self.lines = lines
    }

    var description: String {
        var (text, declaration, shown) = ("", Substring(), Substring())
        for line in lines {
            let (sign, changed): (String, Substring)
            switch line {
            case .kept(let line):
                if line.hasSuffix("{"), ["struct ", "enum ", "extension "].contains(where: { line.contains($0) }) {
                    declaration = line.trimmed
                }
                continue
            case .removed(let line): (sign, changed) = ("-", line.trimmed)
            case .added(let line): (sign, changed) = ("+", line.trimmed)
            }
            if changed.isEmpty { continue }
            if declaration != shown {
                text += "  \(declaration)\n"
                shown = declaration
            }
            text += "    \(sign) \(changed)\n"
        }
        return text
    }
}

extension Substring {
    fileprivate var trimmed: Substring { drop { $0 == " " } }
}
