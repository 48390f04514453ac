import FeathersCore
import FeathersJSONAPI
import Testing

@Suite("JSON:API queries", .timeLimit(.minutes(10)))
struct JSONAPIQueryTests {
    private func line(
        _ query: Query<JSONValue>, _ options: JSONAPIOptions = JSONAPIOptions(), keys: KeyStyle = .asIs
    ) async throws -> String {
        let server = try SeamServer(.init(#"{"data": []}"#), codec: JSONAPICodec(keys: keys), options: options)
        _ = try await server.app.service("posts").find(query)
        return try #require(server.lines.first?.split(separator: "?", maxSplits: 1).last).description
    }

    @Test(
        "become parameters, the brackets of their names percent-encoded",
        arguments: [
            (Query.including("author", "comments.author"), "include=author,comments.author"),
            (Query.including(), "include="),
            (Query.sorted(by: "createdAt", .descending).sorted(by: "author.name"), "sort=-createdAt,author.name"),
            (
                Query.selecting("id", "title").fields(["name"], of: "people"),
                "fields%5Bposts%5D=title&fields%5Bpeople%5D=name"
            ),
            (Query().fields([], of: "people"), "fields%5Bpeople%5D="),
            (Query.limit(10).skip(20), "page%5Bnumber%5D=3&page%5Bsize%5D=10"),
            (Query.where("name", "A & B+c"), "filter%5Bname%5D=A%20%26%20B%2Bc"),
            (Query.where("id", .isIn([1, 2])).where("a", .isIn(["x", "y"])), "filter%5Bid%5D=1,2&filter%5Ba%5D=x,y"),
            (Query.where("a", nil).where("b", true), "filter%5Ba%5D=null&filter%5Bb%5D=true"),
            (Query.where("n", 1).where("n", 2), "filter%5Bn%5D=1&filter%5Bn%5D=2"),
            (
                Query().parameter("filter[from][at]", "2024").parameter("myParam", "é"),
                "filter%5Bfrom%5D%5Bat%5D=2024&myParam=%C3%A9"
            ),
            (Query().page("after", "c=").page("size", 5), "page%5Bafter%5D=c%3D&page%5Bsize%5D=5"),
        ] as [(Query<JSONValue>, String)])
    func parameters(query: Query<JSONValue>, expected: String) async throws {
        #expect(try await line(query) == expected)
    }

    @Test("name fields in the style of the codec, types as they are")
    func keys() async throws {
        let query = Query.including("bestFriend.homeTown").selecting("firstName").sorted(by: "createdAt").where(
            "lastName", "x"
        )
        .fields(["zipCode"], of: "homeTowns")
        #expect(
            try await line(query, keys: .dasherized)
                == """
                include=best-friend.home-town&fields%5Bposts%5D=first-name&sort=created-at\
                &fields%5BhomeTowns%5D=zip-code&filter%5Blast-name%5D=x
                """)
    }

    @Test("use the strategies the server needs")
    func strategies() async throws {
        let query = Query.where("age", .greaterThan(18)).where("age", .lessThan(30)).where("name", "x").limit(5).skip(3)
        #expect(
            try await line(query, JSONAPIOptions(filters: .operators, pages: .offset))
                == """
                page%5Boffset%5D=3&page%5Blimit%5D=5&filter%5Bage%5D%5Bgt%5D=18&filter%5Bage%5D%5Blt%5D=30\
                &filter%5Bname%5D=x
                """)
        #expect(
            try await line(.limit(5).page("after", "abc"), JSONAPIOptions(pages: .cursor))
                == "page%5Bsize%5D=5&page%5Bafter%5D=abc")
        let custom = JSONAPIOptions(
            filters: .conditions {
                [JSONAPIQueryItem("filter[\($0.field)]", ($0.operator == "$ne" ? "!" : "") + (try $0.text()))]
            },
            pages: PageStrategy { limit, _ in [JSONAPIQueryItem("perPage", String(limit ?? 0))] })
        #expect(try await line(.where("a", .notEquals("x")).limit(2), custom) == "perPage=2&filter%5Ba%5D=!x")
        let groups = JSONAPIOptions(
            filters: FilterStrategy { [JSONAPIQueryItem("filter", JSONValue.object($0.json).description)] })
        #expect(
            try await line(.any(of: [.where("a", 1)]), groups) == "filter=%7B%22%24or%22%3A%5B%7B%22a%22%3A1%7D%5D%7D")
    }

    @Test(
        "have the names of parameters that the specification leaves to implementations",
        arguments: [
            ("camelCase", true), ("filter[from][at]", true), ("filter[author.name][]", true), ("page[before]", true),
            ("version:id", true),
            ("my-param[a]", true), ("sort", true), ("q", false), ("locale", false), ("", false), ("_a", false),
            ("filter[a", false),
            ("filter[a]b", false), ("filter[_]", false), ("a+B", false),
        ])
    func names(name: String, isAllowed: Bool) async throws {
        let query = Query().parameter(name, "1")
        if isAllowed {
            #expect(try await line(query).hasSuffix("=1"))
        } else {
            await #expect { try await line(query) } throws: {
                "\($0)".contains("'\(name)' is not a valid parameter name")
            }
            #expect(try await line(query, JSONAPIOptions(checksParameterNames: false)).hasSuffix("=1"))
        }
    }

    @Test("for no ids are answered without a request")
    func noIDs() async throws {
        let server = try SeamServer(.init("", status: 500))
        let page = try await server.app.jsonAPI(Article.self).find(.where("id", .isIn([String]())).including("author"))
        #expect(page.isEmpty && page.total == 0)
        #expect(server.lines.isEmpty)
    }

    @Test(
        "that have no form are refused before anything is sent",
        arguments: [
            (Query.where("a", .notEquals(1)), "'$ne' on 'a'"), (.any(of: [.where("a", 1)]), "'$or'"),
            (.limit(10).skip(5), "multiple"),
            (.skip(5), "'$limit'"),
            (.where("a", .isIn(["x,y"])), "comma"), (Query(["a": [["b": 1]]]), "nested array"),
            (Query(["$select": 5]), "'$select'"),
            (Query(["$limit": -1]), "'$limit'"),
            (Query(["$sort": []]), "'$sort'"),
        ] as [(Query<JSONValue>, String)])
    func refused(query: Query<JSONValue>, words: String) async throws {
        let server = try SeamServer(.init(#"{"data": []}"#))
        let error = try await #require(throws: FeathersError.self) { try await server.app.service("posts").find(query) }
        #expect(error.code == .badRequest)
        #expect(error.execution == .neverSent)
        #expect(error.message.contains(words))
        #expect(server.lines.isEmpty)
    }
}
