import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("The header fields of live queries on disk", .timeLimit(.minutes(10)))
struct StoredHeaderTests {
    private let secret = "s3cr3t-t0ken"

    /// The files below the store's folder that contain a text.
    private func files(of scene: LocalScene, with text: String) throws -> [String] {
        let paths = try #require(FileManager.default.subpaths(atPath: scene.place.path))
        return try paths.filter { path in
            let file = scene.place.appending(path: path)
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return false }
            return try Data(contentsOf: file).range(of: Data(text.utf8)) != nil
        }
    }

    /// What a live query with header fields shows first, without a server.
    private func offline(_ scene: LocalScene, as user: String?, _ headers: [String: String]) async throws -> [String] {
        scene.isOnline.withLock { $0 = false }
        defer { scene.isOnline.withLock { $0 = true } }
        let app = try await scene.app(as: user)
        let notes = scene.notes(app)
        try await notes.outbox.create(LocalScene.Note(text: "queued"))
        var live = notes.live(.sorted(by: "id"), params: Params(headers: headers)).snapshots.makeAsyncIterator()
        let first = try #require(await live.next())
        for write in try #require(app.outbox?.state.entries) { try await app.outbox?.decide(.discard, for: write.id) }
        await app.outbox?.close()
        return first.records.map(\.text)
    }

    @Test(
        "are in no file, and a renewed token finds the same result",
        arguments: ["Authorization", "authorization", "Cookie"])
    func credentials(_ name: String) async throws {
        let scene = try LocalScene("one")
        try await scene.visit(as: "alice", headers: [name: "Bearer \(secret)"])
        #expect(try await scene.lists().count == 1)
        #expect(try files(of: scene, with: secret) == [])
        #expect(try await offline(scene, as: "alice", [name: "Bearer renewed"]) == ["one", "queued"])
        #expect(try await offline(scene, as: "bob", [name: "Bearer \(secret)"]) == ["queued"])
    }

    @Test("with credentials of a user whom the app does not know keep no result")
    func strangers() async throws {
        let scene = try LocalScene("one")
        try await scene.visit(headers: ["Authorization": "Bearer \(secret)"])
        #expect(try files(of: scene, with: secret) == [])
        #expect(try await offline(scene, as: nil, ["Authorization": "Bearer of bob"]) == ["queued"])
    }

    @Test("tell results apart without their values")
    func others() async throws {
        let scene = try LocalScene("one")
        try await scene.visit(as: "alice", headers: ["X-Api-Key": secret])
        #expect(try files(of: scene, with: secret) == [])
        #expect(try await offline(scene, as: "alice", ["x-api-key": secret]) == ["one", "queued"])
        #expect(try await offline(scene, as: "alice", ["X-Api-Key": "another"]) == ["queued"])
    }
}
