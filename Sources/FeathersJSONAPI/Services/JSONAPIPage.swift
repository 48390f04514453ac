public import FeathersCore
import Foundation

/// One page of resources, and the way to the others.
public struct JSONAPIPage<Model: JSONAPIModel>: Sendable {
    /// The resources.
    public let data: [Model]
    /// How many resources match in all; nil where the server does not say.
    public let total: Int?
    /// The document's links.
    public let links: JSONAPILinks
    /// The document's meta.
    public let meta: JSONObject?
    /// The cursors of the resources, where the server pages by cursors and says them.
    public let cursors: [String?]
    /// The URL that gave this page, which its links are relative to.
    let url: String?
    let service: JSONAPIService<Model>
    let params: Params
}

extension JSONAPIPage: RandomAccessCollection {
    public var startIndex: Int { data.startIndex }
    public var endIndex: Int { data.endIndex }
    public subscript(position: Int) -> Model { data[position] }
}

extension JSONAPIPage {
    /// Whether the server names a next page.
    public var hasNext: Bool { links["next"]?.href != nil }

    /// Whether the server names a page before.
    public var hasPrevious: Bool { links["prev"]?.href != nil }

    /// Reads the next page; nil where this is the last one.
    public func next() async throws -> JSONAPIPage? { try await page("next") }

    /// Reads the page before; nil where this is the first one.
    public func previous() async throws -> JSONAPIPage? { try await page("prev") }

    /// Reads the first page; nil where the server does not name it.
    public func first() async throws -> JSONAPIPage? { try await page("first") }

    /// Reads the last page; nil where the server does not name it.
    public func last() async throws -> JSONAPIPage? { try await page("last") }

    private func page(_ name: String) async throws -> JSONAPIPage? {
        guard let target = links.url(name, relativeTo: url.flatMap(URL.init(string:))) else { return nil }
        return try await service.find(.link(target.absoluteString), params: params)
    }
}

extension JSONAPIService {
    /// All pages of a query, each read when it is asked for.
    ///
    /// ```swift
    /// for try await page in posts.pages(.limit(100)) { … }
    /// ```
    public func pages(_ query: Query = Query(), params: Params = Params()) -> JSONAPIPages<Model> {
        JSONAPIPages(service: self, query: query, params: params)
    }
}

/// All pages of a query, one after the other.
public struct JSONAPIPages<Model: JSONAPIModel>: AsyncSequence, Sendable {
    public typealias Element = JSONAPIPage<Model>

    let service: JSONAPIService<Model>
    let query: Query
    let params: Params

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pages: self)
    }

    /// Fetches one page after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let pages: JSONAPIPages
        private var current: JSONAPIPage<Model>?
        private var hasStarted = false

        init(pages: JSONAPIPages) {
            self.pages = pages
        }

        public mutating func next() async throws -> JSONAPIPage<Model>? {
            if !hasStarted {
                hasStarted = true
                current = try await pages.service.find(pages.query, params: pages.params)
            } else {
                current = try await current?.next()
            }
            return current
        }
    }
}
