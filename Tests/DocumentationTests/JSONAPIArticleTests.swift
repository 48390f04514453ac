import Feathers
import FeathersJSONAPI
import FeathersTesting
import Foundation
import Testing

@Suite("The article about JSON:API")
struct JSONAPIArticleTests {
    @Test("The samples that need no server do what they say")
    func run() async throws {
        let site = try #require(URL(string: "https://example.com"))
        #expect(try await jsonAPIStubs(site) == ["Notes", "Ada"])
        let document: JSONValue = ["data": [["type": "posts", "id": "1", "attributes": ["title": "Notes"]]]]
        let (titles, sent) = try jsonAPICodecAlone(document.serialized(), document, site)
        #expect(titles == ["Notes"])
        #expect(try JSONValue(parsing: sent) == ["data": ["type": "posts", "attributes": ["title": "Notes"]]])
    }

    @Test("The strategies of one's own make the parameters they say")
    func strategies() async throws {
        let http = StubHTTPClient {
            HTTPResponse(status: 200, headers: HTTPHeaders(), body: Array(#"{"data":[]}"#.utf8), url: $0.url)
        }
        let (options, query) = jsonAPIQueries()
        let site = try #require(URL(string: "https://example.com"))
        _ = try await FeathersApp(transport: .jsonAPI(site, options: options, httpClient: http)).service("posts").find(
            query)
        #expect(
            http.requests.first?.url.query(percentEncoded: false)
                == "include=author&fields[people]=name&page[from]=0&page[count]=10&filter[views][$gt]=5")
    }

    /// Names of suites and tests as the table of what the specification demands gives them:
    /// `JSONAPIRequestTests.mediaTypes`, and `.errors` of the one before.
    @Test("Every test that Tests/README.md names for the specification is there")
    func tests() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let article = try String(
            contentsOf: root.appending(path: "Tests/README.md"), encoding: .utf8)
        var sources: [String: String] = [:]
        let folder = root.appending(path: "Tests/FeathersJSONAPITests")
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path())
        where path.hasSuffix("Tests.swift") {
            let file = folder.appending(path: path)
            sources[file.deletingPathExtension().lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
        }
        let table = try #require(
            article.components(separatedBy: "| rule | test |").last?.components(separatedBy: "\n## ").first)
        var suite = ""
        var count = 0
        for match in table.matches(of: /`([A-Za-z]*Tests)?\.?([A-Za-z]*)`/)
        where match.1 != nil || match.0.hasPrefix("`.") {
            suite = match.1.map(String.init) ?? suite
            let source = try #require(sources[suite], "no suite \(suite)")
            #expect(match.2.isEmpty || source.contains("func \(match.2)("), "no test \(suite).\(match.2)")
            count += 1
        }
        #expect(count >= 40)
    }
}
