import FeathersJSON

/// Generates Swift files from the descriptions of a server's services. Performs no I/O.
package struct ModelGenerator: Sendable {
    /// The generated files, and warnings about the schemas.
    package struct Output: Sendable {
        /// The files' text by their names.
        package var files: [String: String]
        package var warnings: [SchemaWarning]
        /// The paths of the services, in order.
        package var services: [String]
    }

    /// The source of the files, as shown in their headers, without credentials.
    package var origin: String
    /// Whether types and their members are public.
    package var isPublic: Bool

    package init(origin: String, isPublic: Bool = false) {
        self.origin = origin
        self.isPublic = isPublic
    }

    /// Returns the files for OpenAPI documents and JSON Schema files. The names of sources are the paths of the files
    /// below a common folder.
    package func generate(from sources: [SchemaSource]) -> Output {
        let sources = sources.sorted { $0.name < $1.name }
        let library = SchemaLibrary(sources)
        var (services, reader) = ([ServiceSchemas](), ShapeReader(library: library))
        for source in sources where OpenAPIReader.describes(source.json) {
            var document = OpenAPIReader(source, library)
            let (found, warnings) = document.services()
            services += found
            for warning in warnings { reader.warn(warning.place, warning.message) }
        }
        services += SchemaFileReader(sources: sources.filter { !OpenAPIReader.describes($0.json) }).services()
        var seen = Set<String>()
        services = services.filter { service in
            if seen.insert(service.path).inserted { return true }
            reader.warn(
                service.model.place, "service '\(service.path)' is described twice; this description is left out")
            return false
        }
        var builder = ModelBuilder(library: library, reader: reader)
        let (built, others) = builder.build(services)
        return Output(
            files: files(built, others), warnings: builder.reader.warnings, services: built.map(\.path))
    }

    /// Returns one file for each service. Types that several services share are in `SharedModels.swift`.
    private func files(_ services: [SwiftService], _ others: [SwiftDeclaration]) -> [String: String] {
        let recursion = Recursion(services.flatMap(\.types) + others)
        let shared = Dictionary(others.map { ($0.path, $0) }) { first, _ in first }
        var users: [String: Set<String>] = [:]
        for service in services {
            var waiting = service.types
            while let next = waiting.popLast() {
                for name in Set(next.all.flatMap(\.types).flatMap(\.names)).sorted() {
                    guard let type = shared[name], users[name, default: []].insert(service.model).inserted else {
                        continue
                    }
                    waiting.append(type)
                }
            }
        }
        var files: [String: String] = [:]
        for service in services {
            let own = others.filter { users[$0.path] == [service.model] }
            files[service.model + ".swift"] = text(of: (service.types + own).map(recursion.broken), service)
        }
        let common = others.filter { (users[$0.path]?.count ?? 0) > 1 }.map(recursion.broken)
        if !common.isEmpty { files["SharedModels.swift"] = text(of: common, nil) }
        return files
    }

    private func text(of types: [SwiftDeclaration], _ service: SwiftService?) -> String {
        var writer = SwiftWriter(isPublic: isPublic)
        for line in GeneratedHeader.lines(origin: origin) { writer.line(line) }
        writer.line()
        writer.line("\(writer.access)import Feathers")
        if types.flatMap(\.all).flatMap(\.types).contains(where: \.needsFoundation) {
            writer.line("\(writer.access)import Foundation")
        }
        for type in types {
            writer.line()
            writer.write(type)
        }
        if let service {
            writer.line()
            writer.write(service)
            if !service.relations.isEmpty {
                writer.line()
                writer.write(service.relations, of: service.model)
            }
        }
        return writer.lines.joined(separator: "\n") + "\n"
    }
}

/// The first lines of each generated file, by which it is recognized.
package enum GeneratedHeader {
    private static let mark = "// Written by feathers-models"

    static func lines(origin: String) -> [String] {
        let origin = origin.split(whereSeparator: { $0.isNewline || $0.isWhitespace }).joined(separator: " ")
        return [
            "\(mark) from \(origin).",
            "// The next run overwrites this file. Your extensions belong in files of their own.",
        ]
    }

    /// Whether a file was generated.
    package static func begins(_ text: some StringProtocol) -> Bool { text.hasPrefix(mark) }

    /// Returns the file without its first line, which names the source: several servers may have the same models.
    static func body(of text: String) -> Substring {
        text[(text.firstIndex(where: \.isNewline) ?? text.endIndex)...]
    }
}
