public import FeathersCore

/// The words of the cursor pagination profile (`https://jsonapi.org/profiles/ethanresnick/cursor-pagination`).
public enum CursorPagination {
    /// The profile's address, for ``JSONAPIOptions/profiles``. Servers that have other ways to page need to be asked for this one.
    public static let profile = "https://jsonapi.org/profiles/ethanresnick/cursor-pagination"

    /// The type of the error that the order asked for cannot be paged through, see ``JSONAPIErrorObject/typeLinks``.
    public static let unsupportedSort = profile + "/unsupported-sort"
    /// The type of the error that a page is to hold more than the server allows, see ``JSONAPIErrorObject/maximumPageSize``.
    public static let maxSizeExceeded = profile + "/max-size-exceeded"
    /// The type of the error that both ends of a page are given, and the server takes only one.
    public static let rangePaginationNotSupported = profile + "/range-pagination-not-supported"
}

extension Query {
    /// Asks for what comes after a cursor (`page[after]`).
    public func after(_ cursor: String) -> Query {
        page("after", cursor)
    }

    /// Asks for what comes before a cursor (`page[before]`).
    public func before(_ cursor: String) -> Query {
        page("before", cursor)
    }
}

extension JSONAPIErrorObject {
    /// How many resources a page may hold, where that was exceeded.
    public var maximumPageSize: Int? {
        meta?["page"]?["maxSize"]?.integer.flatMap { Int(exactly: $0) }
    }
}

extension JSONAPIPage {
    /// Whether a page between two cursors could not hold all there is between them.
    public var isRangeTruncated: Bool { meta?["page"]?["rangeTruncated"]?.bool ?? false }

    /// The server's guess at how many resources match in all, where it does not count them.
    public var estimatedTotal: Int? {
        meta?["page"]?["estimatedTotal"]?["bestGuess"]?.integer.flatMap { Int(exactly: $0) }
    }
}
