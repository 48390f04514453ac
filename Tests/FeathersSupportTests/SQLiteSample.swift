import FeathersSupport
import Foundation

extension DatabaseSchema {
    /// One table of texts.
    static let sample = DatabaseSchema(
        application: 0x4653_414D, version: 1,
        statements: ["CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT)"])
}

extension TemporaryFolder {
    /// Opens the sample database of this folder.
    func open(_ name: String = "data", _ schema: DatabaseSchema = .sample) throws -> Database {
        try Database.open(name, in: SafeDirectory.make(url.path), schema)
    }

    func openForReading(_ name: String = "data", _ schema: DatabaseSchema = .sample) throws -> Database? {
        try Database.openForReading(name, in: SafeDirectory.make(url.path), schema)
    }

    func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: url.appending(path: name))) }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: url.appending(path: name))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
    }

    /// Copies a database with its log into another folder, as a killed process would leave it.
    func copy(_ name: String = "data", to other: TemporaryFolder) throws {
        for name in [name, "\(name)-wal"] where FileManager.default.fileExists(atPath: path(name)) {
            try other.write(bytes(of: name), to: name)
        }
    }
}

extension Database {
    func add(_ texts: String...) throws {
        for text in texts { try execute("INSERT INTO texts (text) VALUES (?)", .text(text)) }
    }

    var texts: [String] { get throws { try rows("SELECT text FROM texts ORDER BY number") { $0.text(0) ?? "" } } }
}
