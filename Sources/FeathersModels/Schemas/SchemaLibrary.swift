package import FeathersJSON
import Foundation

/// A document that schemas are read from.
package struct SchemaSource: Sendable {
    /// The file's name or the URL, as warnings and headers show it.
    package var name: String
    package var json: JSONValue

    package init(name: String, json: JSONValue) {
        self.name = name
        self.json = json
    }
}

/// A location: a document, and a JSON Pointer in it.
package struct SchemaPlace: Hashable, Sendable, CustomStringConvertible {
    package var source: String
    package var pointer: String

    package var description: String { "\(source)#\(pointer)" }

    func appending(_ tokens: some Sequence<String>) -> SchemaPlace {
        var place = self
        for token in tokens {
            // In a debug build, as plugins run it, replacing nothing in every token takes a tenth of the time of a run.
            let isPlain = !token.utf8.contains { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }
            place.pointer += "/" + (isPlain ? token : token.replacing("~", with: "~0").replacing("/", with: "~1"))
        }
        return place
    }

    /// The last token of the pointer, or the document's name without its extension.
    var lastName: String {
        if let token = pointer.split(separator: "/").last { return Self.unescaped(token) }
        return Self.stem(of: source)
    }

    static func unescaped(_ token: some StringProtocol) -> String {
        let token = String(token)
        return token.utf8.contains(UInt8(ascii: "~"))
            ? token.replacing("~1", with: "/").replacing("~0", with: "~") : token
    }

    /// A file's name without folders and extensions: `message` of `schemas/message.schema.json`.
    static func stem(of name: String) -> String {
        var stem = name.split(separator: "/").last.map(String.init) ?? name
        for ending in [".json", ".schema"] where stem.hasSuffix(ending) { stem.removeLast(ending.count) }
        return stem
    }
}

/// A schema and its place.
struct Schema: Sendable {
    var json: JSONValue
    var place: SchemaPlace

    subscript(tokens: String...) -> Schema? {
        var json = json
        for token in tokens {
            guard let next = json[token] else { return nil }
            json = next
        }
        return Schema(json: json, place: place.appending(tokens))
    }

    /// The schemas in a list under a key.
    func list(_ key: String) -> [Schema] {
        let elements = json[key]?.array ?? []
        return elements.enumerated().map { Schema(json: $1, place: place.appending([key, String($0)])) }
    }

    func text(_ key: String) -> String? { json[key]?.string }

    func without(_ keys: String...) -> Schema {
        guard let object = json.object else { return self }
        return Schema(
            json: .object(JSONObject(object.filter { !keys.contains($0.key) }.map { ($0.key, $0.value) })), place: place
        )
    }
}

/// A problem that does not stop a run: a reference without a target, or an unknown type.
package struct SchemaWarning: Hashable, Sendable, CustomStringConvertible {
    package var place: SchemaPlace
    package var message: String

    /// The place and the message, on one line. Both quote the document, which must not control a terminal.
    package var description: String { SwiftWriter.escaped("\(place): \(message)") }
}

/// All documents of a run. Resolves references from one schema to another.
struct SchemaLibrary: Sendable {
    let sources: [SchemaSource]
    private let roots: [String: JSONValue]
    /// Schemas with an `$id`, by the `$id` and by its last component without extension.
    private let identified: [String: Schema]

    init(_ sources: [SchemaSource]) {
        self.sources = sources
        roots = Dictionary(sources.map { ($0.name, $0.json) }) { first, _ in first }
        var identified: [String: Schema] = [:]
        for schema in sources.flatMap(Self.definitions) {
            guard let id = schema.text("$id") else { continue }
            for name in [id, SchemaPlace.stem(of: id)] where identified[name] == nil { identified[name] = schema }
        }
        self.identified = identified
    }

    /// The root of a document and the schemas it defines by name.
    static func definitions(in source: SchemaSource) -> [Schema] {
        let root = Schema(json: source.json, place: SchemaPlace(source: source.name, pointer: ""))
        let groups = [root["components", "schemas"], root["definitions"], root["$defs"]]
        return [root]
            + groups.compactMap(\.self).flatMap { group in
                (group.json.object?.keys ?? []).compactMap { group[$0] }
            }
    }

    /// Returns the schema that a reference leads to.
    func target(of reference: String, in source: String) -> Schema? {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (document, fragment) = (parts.first ?? "", parts.count > 1 ? parts.last ?? "" : "")
        guard let root = document.isEmpty ? root(source) : self.document(document, from: source) else { return nil }
        if fragment.isEmpty { return root }
        guard fragment.hasPrefix("/") else { return identified["#" + fragment] ?? anchor(fragment, in: root) }
        return follow(fragment, from: root)
    }

    private func root(_ name: String) -> Schema? {
        roots[name].map { Schema(json: $0, place: SchemaPlace(source: name, pointer: "")) }
    }

    private func document(_ name: String, from source: String) -> Schema? {
        var folder = source.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        for step in name.split(separator: "/") where step != "." {
            if step == ".." { folder = folder.dropLast() } else { folder.append(step) }
        }
        let path = folder.joined(separator: "/")
        if let schema = identified[name] ?? root(name) ?? root(path) ?? root(path + ".json") { return schema }
        let stem = SchemaPlace.stem(of: name)
        return identified[stem] ?? sources.first { SchemaPlace.stem(of: $0.name) == stem }.flatMap { root($0.name) }
    }

    private func anchor(_ name: String, in root: Schema) -> Schema? {
        sources.first { $0.name == root.place.source }.flatMap { source in
            Self.definitions(in: source).first { $0.text("$anchor") == name }
        }
    }

    private func follow(_ pointer: String, from root: Schema) -> Schema? {
        var (json, tokens) = (root.json, [String]())
        for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let token = SchemaPlace.unescaped(part.removingPercentEncoding ?? String(part))
            guard let next = json[token] ?? Int(token).flatMap({ json[$0] }) else { return nil }
            json = next
            tokens.append(token)
        }
        return Schema(json: json, place: root.place.appending(tokens))
    }

    /// Returns the schema, or the one that its references lead to; nil if they lead nowhere or in a circle.
    func resolved(_ schema: Schema) -> Schema? {
        var (schema, visited) = (schema, Set<SchemaPlace>())
        while let reference = schema.text("$ref") {
            guard let target = target(of: reference, in: schema.place.source), visited.insert(target.place).inserted
            else {
                return nil
            }
            schema = target
        }
        return schema
    }
}
