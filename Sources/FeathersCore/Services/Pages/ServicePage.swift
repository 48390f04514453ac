/// One page of a list, and how far it leads.
public struct ServicePage<Element: Sendable>: Sendable {
    /// The records of the page.
    public let records: [Element]
    /// How many records came before this page, those skipped included.
    public let position: Int
    /// How many records all pages have together, as far as the service has told.
    public let expected: Int?
    /// How many records match, the service's `total`; nil where it does not paginate.
    public let total: Int?

    /// How much of everything has come with this page, from 0 to 1; nil where the service does not tell.
    public var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : min(Double(position + records.count) / Double(total), 1)
    }
}

extension ServicePage: Equatable where Element: Equatable {}
