#if os(macOS) || os(Linux)
    import FeathersCore
    import FeathersSupport
    import FeathersTesting
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersSync

    @Suite("A local store that someone has changed", .timeLimit(.minutes(30)))
    struct DamagedStoreTests {
        /// A cell of the database, and what is put into it.
        private struct Mutation {
            let table, column: String
            let row: Int64
            let value: String

            /// Whether the column says how rows are read, rather than what is in them.
            var isNumber: Bool {
                ["size", "date", "count", "change", "total", "growth", "shown", "failure_size"]
                    .contains(column) || column.hasPrefix("is_")
            }
        }

        /// What a hostile file may contain, as SQL.
        private static let values = [
            "NULL", "-1", "1", "9223372036854775807", "-9223372036854775808", "1099511627777", "4611686018427387904",
            "1.5",
            "9e999", "'x'", "''", "CAST(x'ff' AS TEXT)",
            "'\(String(repeating: "[", count: 100_000))'",
            "'\(String(repeating: "[", count: 2000))\(String(repeating: "]", count: 2000))'",
            #"'{"id":1e400,"text":[]}'"#,
        ]

        /// A store with three records, an executed write, a refused one, and a queued one.
        private func store() async throws -> OutboxFolder {
            let scene = try LocalScene("one", "two")
            let app = try await scene.app()
            let notes = app.service("notes")
            try await withFeathersApp(app) { app in
                _ = try await notes.outbox.create(["text": "three"]).result()
                _ = try await notes.outbox.patch(77, with: ["text": "refused"])
                _ = try await app.outbox?.flush(within: .seconds(30))
                for try await snapshot in notes.live(.sorted(by: "id")).snapshots where snapshot.source == .server {
                    break
                }
            }
            _ = try await notes.outbox.patch(2, with: ["text": "two"])
            await app.outbox?.close()
            let folder = try OutboxFolder()
            try FileManager.default.copyItem(at: scene.database, to: folder.url.appending(path: "local.sqlite"))
            return folder
        }

        private func open(_ folder: URL) throws -> Database {
            let database = try Database.open("local.sqlite", in: SafeDirectory.make(folder.path), JournalTables.schema)
            try database.execute("PRAGMA synchronous = OFF")
            return database
        }

        /// Every cell of every table, with every value.
        private func mutations(of store: OutboxFolder) throws -> [Mutation] {
            let database = try open(store.url)
            defer { database.close() }
            let tables = ["writes", "names", "services", "records", "lists", "chunks"]
            return try tables.flatMap { table in
                let columns = try database.rows("SELECT name FROM pragma_table_info('\(table)')") { $0.text(0) ?? "" }
                let rows = try database.rows("SELECT rowid FROM \(table)") { $0.integer(0) ?? 0 }
                #expect(!rows.isEmpty, "\(table)")
                return columns.flatMap { column in
                    rows.flatMap { row in
                        Self.values.map { Mutation(table: table, column: column, row: row, value: $0) }
                    }
                }
            }
        }

        /// A copy of a store for each mutation that its tables accept, by its path.
        private func mutated(_ original: OutboxFolder, in place: URL) throws -> [String: Mutation] {
            var folders: [String: Mutation] = [:]
            for (number, mutation) in try mutations(of: original).enumerated() {
                let folder = place.appending(path: "\(number)", directoryHint: .isDirectory)
                _ = try SafeDirectory.make(folder.path)
                let file = folder.appending(path: "local.sqlite")
                try FileManager.default.copyItem(at: original.url.appending(path: "local.sqlite"), to: file)
                let database = try open(folder)
                defer { database.close() }
                let change = "UPDATE \(mutation.table) SET \(mutation.column) = \(mutation.value) WHERE rowid = ?"
                guard (try? database.execute(change, .integer(mutation.row))) != nil else { continue }
                folders[folder.path] = mutation
            }
            return folders
        }

        @Test("never ends the process: it is refused with a reason, or shows what was stored, or nothing")
        func mutated() async throws {
            let original = try await store()
            let copies = try OutboxFolder()
            // Each copy is written to disk.
            let folders = try await SiblingProgram.onThread { try mutated(original, in: copies.url) }
            #expect(folders.count > 800)
            let results = try await LocalReading.read(folders.keys.sorted())
            var counts = (refused: 0, shown: 0, empty: 0)
            for (path, mutation) in folders {
                let name = "\(mutation.table).\(mutation.column) = \(mutation.value.prefix(30))"
                guard let result = results[path] else {
                    Issue.record("the process ended with \(name)")
                    continue
                }
                if result.hasPrefix("refused ") {
                    counts.refused += 1
                    #expect(result.contains(path) && result.contains("cannot be"), "\(name): \(result)")
                } else if result == "shown " {
                    counts.empty += 1
                } else {
                    counts.shown += 1
                    // Without the result, the write that was executed shows.
                    let isRight = ["shown one,two,three", "shown three"].contains(result)
                    #expect(isRight || !mutation.isNumber, "\(name): \(result)")
                }
            }
            print("\(folders.count) changed stores: \(counts)")
            #expect(counts.refused > 100 && counts.shown > 100)
        }

        @Test("is refused if it has a trigger, a view or another table, and left as it is")
        func schema() async throws {
            for statement in [
                "CREATE TRIGGER t AFTER DELETE ON writes BEGIN INSERT INTO names VALUES (1, '', ''); END",
                "CREATE VIEW v AS SELECT * FROM writes", "CREATE TABLE more (a)", "DROP INDEX writes_id",
                "ALTER TABLE names ADD COLUMN more AS (1)",
            ] {
                let store = try await store()
                let database = try open(store.url)
                try database.execute(statement)
                database.close()
                let bytes = try store.bytes(of: "local.sqlite")
                let app = FeathersApp(transport: StubTransport { _ in .null })
                await #expect {
                    try await app.use(localStore: .directory(store.url))
                } throws: {
                    "\($0)".contains("its tables are not as this package creates them")
                }
                #expect(try store.bytes(of: "local.sqlite") == bytes)
            }
        }
    }
#endif
