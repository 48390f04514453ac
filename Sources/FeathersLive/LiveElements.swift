import FeathersCore

/// The records that are shown, as the elements they were made into.
///
/// Only what lies between the first and the last difference is looked at one by one: of a thousand records one changes at a time, and what stands
/// around it is neither decoded nor looked up again.
struct LiveElements<Record: Sendable>: Sendable {
    /// What the elements were made of; nil before the first time.
    private(set) var marks: [LiveMark]?
    private(set) var elements: [Record] = []

    /// Makes elements of what is to be shown.
    /// - Returns: whether anything is different from what was shown.
    /// - Throws: what `make` throws; nothing has changed then.
    mutating func show(_ entries: ArraySlice<LiveWindow.Entry>, _ make: (JSONValue) throws -> Record) throws -> Bool {
        let new = entries.map { LiveMark(key: $0.key, version: $0.version) }
        let old = marks ?? []
        let isFirst = marks == nil
        // No two states of records share a version.
        let common = min(old.count, new.count)
        var before = 0
        while before < common, old[before].version == new[before].version { before += 1 }
        if !isFirst, before == old.count, before == new.count { return false }
        var behind = 0
        while behind < common - before, old[old.count - 1 - behind].version == new[new.count - 1 - behind].version { behind += 1 }

        let gone = before..<old.count - behind
        var known: [Int: Record] = [:]
        for index in gone { known[old[index].version] = elements[index] }
        var made: [Record] = []
        for index in before..<new.count - behind {
            if let element = known[new[index].version] {
                made.append(element)
            } else {
                made.append(try make(entries[entries.startIndex + index].record))
            }
        }
        elements.replaceSubrange(gone, with: made)
        marks = new
        return true
    }
}
