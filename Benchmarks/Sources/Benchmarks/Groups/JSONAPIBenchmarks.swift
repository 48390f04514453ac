import Feathers
import FeathersJSONAPI
import Foundation
import Synchronization

/// Decoding compound documents into models, compared with `JSONDecoder` on the same models in plain JSON.
///
/// A resource takes as many instructions in 100 MB as in 1 MB. It takes longer, though, when the document's tree and
/// the models outgrow the processor's caches. This affects decoding and freeing, which access memory long after the
/// parser wrote it, but not parsing.
enum JSONAPIBenchmarks {
    struct Author: JSONAPIModel {
        static let type = "people"
        let id: String
        let name: String
        let email: String
    }

    struct Category: JSONAPIModel {
        static let type = "categories"
        let id: String
        let title: String
    }

    struct Tag: JSONAPIModel {
        static let type = "tags"
        let id: String
        let label: String
    }

    struct Article: JSONAPIModel {
        static let type = "articles"
        let id: String
        let title: String
        let body: String
        let likes: Int
        let score: Double
        let isPublished: Bool
        let author: Author
        let category: Category
        let tags: [Tag]
    }

    /// A document of 1,000 articles, for a profiler.
    static func sample() throws -> [UInt8] { try document(articles(1000), JSONAPICodec()).serialized() }

    static func groups() -> [BenchmarkGroup] {
        [
            group("1 MB", count: 1000, repetitions: 10), group("10 MB", count: 10_000, repetitions: 1),
            group("100 MB", count: 100_000, repetitions: 1),
        ]
    }

    private static func group(_ name: String, count: Int, repetitions: Int) -> BenchmarkGroup {
        var group = BenchmarkGroup("JSON:API, \(name)")
        let input = Input(count)
        // One resource counts as one operation, which makes sizes comparable.
        let operations = count * repetitions
        group.add("JSONDecoder, plain JSON", operations: operations) {
            let data = try input.get().plain
            for _ in 0..<repetitions { _ = try JSONDecoder().decode([Article].self, from: data) }
        }
        group.add("to models", operations: operations, comparedWith: "JSONDecoder, plain JSON") {
            let bytes = try input.get().document
            for _ in 0..<repetitions { _ = try JSONAPICodec().decodeList(Article.self, parsing: bytes) }
        }
        group.add("read by a service", operations: operations, comparedWith: "JSONDecoder, plain JSON") {
            guard let url = URL(string: "http://localhost") else { throw URLError(.badURL) }
            let client = ModelBenchmarks.InstantClient(body: try input.get().document)
            let service = FeathersApp(transport: .jsonAPI(url, httpClient: client)).jsonAPI(Article.self)
            for _ in 0..<repetitions { _ = try await service.find() }
        }
        group.add("parsing only", operations: operations) {
            let bytes = try input.get().document
            for _ in 0..<repetitions { _ = try JSONAPIDocument(parsing: bytes) }
        }
        return group
    }

    /// The same articles as plain JSON and as a document. Created in the warm-up round, so that runs of other groups
    /// don't pay for large ones.
    private final class Input: Sendable {
        private let count: Int
        private let made = Mutex<(plain: Data, document: [UInt8])?>(nil)

        init(_ count: Int) {
            self.count = count
        }

        func get() throws -> (plain: Data, document: [UInt8]) {
            try made.withLock { made in
                if let made { return made }
                let articles = JSONAPIBenchmarks.articles(count)
                let input = (
                    try JSONEncoder().encode(articles),
                    try JSONAPIBenchmarks.document(articles, JSONAPICodec()).serialized()
                )
                made = input
                return input
            }
        }
    }

    private static func articles(_ count: Int) -> [Article] {
        let text = String(repeating: "Lorem ipsum dolor sit amet, Zürich. ", count: 16)
        let authors = (0..<max(1, count / 4)).map {
            Author(id: "\($0)", name: "Author \($0)", email: "author\($0)@example.com")
        }
        let tags = (0..<max(3, count / 4)).map { Tag(id: "\($0)", label: "Tag number \($0)") }
        let categories = (0..<10).map { Category(id: "\($0)", title: "Category \($0)") }
        return (0..<count).map { number in
            Article(
                id: "\(number)", title: "Article number \(number)", body: text, likes: number,
                score: Double(number) * 0.37,
                isPublished: number % 2 == 0, author: authors[number % authors.count],
                category: categories[number % 10],
                tags: (0..<3).map { tags[(number + $0) % tags.count] })
        }
    }

    private static func document(_ articles: [Article], _ codec: JSONAPICodec) throws -> JSONAPIDocument {
        var included: [JSONAPIIdentifier: JSONAPIResource] = [:]
        for article in articles {
            for resource in try [codec.resource(of: article.author), codec.resource(of: article.category)]
                + article.tags.map(codec.resource)
            {
                if let identifier = resource.identifier { included[identifier] = resource }
            }
        }
        return JSONAPIDocument(data: .many(try articles.map(codec.resource)), included: Array(included.values))
    }
}
