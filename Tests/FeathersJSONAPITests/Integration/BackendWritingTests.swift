import FeathersCore
import FeathersJSONAPI
import Foundation
import TestBackend
import Testing

@Suite("Writing to a JSON:API server", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct BackendWritingTests {
    @Test("a resource is created, changed and removed, attributes and relationships in one request each")
    func life() async throws {
        let posts = try await Backend.app().jsonAPI(Backend.Post.self)
        let created = try await posts.create(
            Backend.Post(title: "New", tags: ["x"], views: 99, author: ToOne(id: "2"), comments: ToMany(ids: ["30"])))
        let id = try #require(created.id)
        #expect(created.title == "New" && created.views == 0 && created.author.identifier?.id == "2")
        let patched = try await posts.patch(id, with: Backend.PostPatch(body: .value("text"), author: .empty))
        #expect(patched?.title == "New" && patched?.body == "text" && patched?.author.linkage == .null)
        #expect(try await posts.patch(id, with: Backend.PostPatch(body: .null))?.body == nil)
        let read = try await posts.reload(created, query: .including("comments"))
        #expect(read.comments.values.map(\.id) == ["30"])
        try await posts.remove(id)
        let error = try await #require(throws: FeathersError.self) { try await posts.get(id) }
        #expect(error.code == .notFound)
    }

    @Test(
        "all that a server may answer a change with is understood",
        arguments: ["document", "empty", "meta", "accepted"])
    func answers(kind: String) async throws {
        let app = try await Backend.app(
            JSONAPISettings {
                $0.create = kind
                $0.update = kind
                $0.remove = kind == "document" ? "empty" : kind
                $0.jobPolls = 0
            })
        let people = app.service("people")
        let created = try await people.create(["id": "b2bd1e6a-7e43-4bd1-9d2f-4c7a2b0f9a01", "name": "Eve"])
        if kind != "accepted" {
            #expect(created["name"] == "Eve" && created["id"] == "b2bd1e6a-7e43-4bd1-9d2f-4c7a2b0f9a01")
        }
        let patched = try await people.patch("2", with: ["name": "Rob"])
        if kind != "accepted" { #expect(patched["name"] == "Rob" && patched["id"] == "2") }
        let removed = try #require(await people.remove("4"))
        if kind == "accepted" {
            #expect(created["@document"]?["status"] == 202 && created["@document"]?["contentLocation"] != nil)
            #expect(removed["@document"]?["status"] == 202)
        } else {
            #expect(removed["id"] == "4")
        }
    }

    @Test("violations of the server's rules come back with all their places")
    func violations() async throws {
        let app = try await Backend.app()
        let invalid = try await #require(throws: FeathersError.self) {
            try await app.service("posts").create(["title": 5, "tags": "none"])
        }
        let pointers = invalid.jsonAPIErrors.compactMap(\.source?.pointer)
        #expect(pointers.contains("/data/attributes/title"))
        let conflict = try await #require(throws: FeathersError.self) {
            try await app.service("posts").create(["type": "people", "name": "x"])
        }
        #expect(conflict.code == .conflict)
        let forbidden = try await #require(throws: FeathersError.self) {
            try await app.service("posts").create(["id": "1", "title": "x"])
        }
        #expect(forbidden.code == .forbidden)
        let unknown = try await #require(throws: FeathersError.self) {
            try await app.service("posts").create(["title": "x", "author": ["type": "people", "id": "99"]])
        }
        #expect(unknown.code == .notFound)
    }

    @Test("relationships are edited, whatever the server answers", arguments: ["empty", "document", "meta"])
    func relationships(kind: String) async throws {
        let app = try await Backend.app(JSONAPISettings { $0.relationship = kind })
        let posts = app.jsonAPI(Backend.Post.self)
        let comments = posts.relationship("comments", ofID: "2")
        let all = try #require(try await comments.get().linkage?.identifiers)
        #expect(all.count == 2)
        let thirtieth = JSONAPIIdentifier(type: "comments", id: "30")
        try await comments.add([thirtieth])
        try await comments.add([thirtieth])
        #expect(try await comments.get().linkage?.identifiers.count == 3)
        try await comments.remove([all[0], thirtieth])
        #expect(try await comments.get().linkage == .many([all[1]]))
        #expect(try await comments.replace(with: [thirtieth]).linkage == .many([thirtieth]))
        #expect(try await comments.relatedList(of: Backend.Comment.self).map(\.body) == ["Comment 30"])
        #expect(try await comments.replace(with: []).linkage == .many([]))
        let author = posts.relationship("author", ofID: "2")
        try await author.replace(with: JSONAPIIdentifier(type: "people", id: "3"))
        #expect(try await author.related(Backend.Person.self)?.name == "Chloë")
        try await author.replace(with: nil as JSONAPIIdentifier?)
        #expect(try await author.related(Backend.Person.self) == nil)
        let post = try await posts.get("1")
        #expect(try await posts.load("author", post.author, of: post)?.name == "Alice")
        #expect(try await posts.load("comments", post.comments, of: post).count == 8)
    }

    @Test("a batch is carried out as a whole, or not at all", arguments: ["omitted", "present"])
    func batch(emptyResults: String) async throws {
        let app = try await Backend.app(JSONAPISettings { $0.emptyResults = emptyResults })
        let codec = JSONAPICodec(keys: .dasherized)
        var batch = JSONAPIBatch(codec: codec)
        try batch.add(Backend.Person(lid: "eve", name: "Eve"))
        try batch.add(
            Backend.Post(title: "By Eve", author: ToOne(identifier: JSONAPIIdentifier(type: "people", lid: "eve"))))
        batch.relationship("favorites", of: JSONAPIIdentifier(type: "people", id: "1"), .update, .many([]))
        batch.remove(JSONAPIIdentifier(type: "posts", id: "12"))
        let results = try await app.send(batch)
        #expect(results.count == 4)
        let eve = try results[0].decode(Backend.Person.self)
        #expect(try results[1].decode(Backend.Post.self).author.identifier?.id == eve.id)
        let posts = app.jsonAPI(Backend.Post.self)
        await #expect(throws: FeathersError.self) { try await posts.get("12") }

        var failing = JSONAPIBatch(codec: codec)
        failing.remove(JSONAPIIdentifier(type: "posts", id: "11"))
        try failing.add(Backend.Post(title: "x", author: ToOne(id: "99")))
        let error = try await #require(throws: FeathersError.self) { try await app.send(failing) }
        #expect(error.jsonAPIErrors.first?.operationIndex == 1)
        #expect(try await posts.get("11").id == "11")

        var removals = JSONAPIBatch()
        removals.remove(JSONAPIIdentifier(type: "posts", id: "11"))
        #expect(try await app.send(removals).map { $0.record == nil } == [true])
    }

    @Test("operations name what they are for by reference, by address, or by their data alone")
    func targets() async throws {
        let app = try await Backend.app()
        var batch = JSONAPIBatch(codec: JSONAPICodec(keys: .dasherized))
        batch.append(.add(JSONAPIResource(type: "comments", attributes: ["body": "by address"]), to: "comments"))
        batch.append(JSONAPIOperation(.remove, .href("comments/1")))
        batch.append(
            JSONAPIOperation(
                .add, .href("people/1/relationships/favorites"), data: .many([JSONAPIResource(type: "media", id: "3")]),
                meta: ["why": "liked"]))
        batch.relationship("author", of: JSONAPIIdentifier(type: "posts", id: "1"), .update, .null)
        batch.relationship(
            "favorites", of: JSONAPIIdentifier(type: "people", id: "1"), .remove, .many([.init(type: "media", id: "2")])
        )
        try batch.update(Backend.PostPatch(id: "2", title: .value("by its data")))
        let results = try await app.send(batch)
        #expect(try results[0].decode(Backend.Comment.self).body == "by address")
        #expect(try results[5].decode(Backend.Post.self).title == "by its data")
        await #expect { try await app.service("comments").get("1") } throws: { FeathersError.Code.notFound ~= $0 }
        let favorites = try await app.jsonAPI(Backend.Person.self).relationship("favorites", ofID: "1").get()
        #expect(favorites.linkage?.identifiers.map { "\($0)" } == ["posts 2", "media 3"])
        #expect(try await app.jsonAPI(Backend.Post.self).get("1").author.linkage == .null)
    }

    @Test("calls for several records are batches")
    func multi() async throws {
        let app = try await Backend.app()
        let created = try await app.jsonAPI(Backend.Person.self).create(contentsOf: [
            .init(name: "A"), .init(name: "B"),
        ])
        #expect(created.map(\.name) == ["A", "B"])
        let ids = created.compactMap(\.id)
        let patched = try await app.service("people").patchAll(query: .where("id", .isIn(ids)), with: ["age": 5])
        #expect(patched.map { $0["age"] } == [5, 5])
        _ = try await app.service("people").removeAll(query: .where("id", .isIn(ids)))
        #expect(try await app.jsonAPI(Backend.Person.self).find(.limit(10)).total == 4)
    }
}
