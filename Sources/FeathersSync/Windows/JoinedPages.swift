import FeathersCore

/// The pages of one result, each of which begins with the last record of the page before. A state machine without I/O.
///
/// A record that is created or removed between two requests shifts the later pages, so that one is missing or repeated.
/// The totals or the seam tell, and all pages are read once more. If these do not agree either, they are taken as far
/// as each follows the page before: events report the rest.
struct JoinedPages: Sendable {
    enum Step: Sendable {
        /// The records after these can be requested.
        case more
        /// The first page must be requested again.
        case again
        case over
    }

    /// The name of the records' id property.
    let id: String
    /// All pages as one; nil before the first page.
    private(set) var whole: Page<JSONValue>?
    private var isRepeated = false

    init(id: String) { self.id = id }

    mutating func add(_ page: Page<JSONValue>) -> Step {
        guard let whole else {
            whole = page
            return .more
        }
        // A server whose pages have one record sends no seam.
        let isSeamless = whole.limit == 1
        let seam = key(whole.data.last)
        let index = isSeamless ? -1 : page.data.firstIndex { key($0) == seam }
        let agrees = index == (isSeamless ? -1 : 0) && page.total == whole.total
        if !agrees, !isRepeated {
            (self.whole, isRepeated) = (nil, true)
            return .again
        }
        guard let index else { return .over }
        let known = Set(whole.data.compactMap(key))
        let new = page.data.dropFirst(index + 1).filter { record in key(record).map { !known.contains($0) } ?? true }
        self.whole?.data += new
        return new.isEmpty ? .over : .more
    }

    private func key(_ record: JSONValue?) -> String? { RelatedKeys.text(record?[id]) }
}
