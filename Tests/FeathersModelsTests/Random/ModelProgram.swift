import FeathersJSON
import Foundation
import TestBackend

/// A program of generated models that decodes and encodes values, compiled against the modules of this test run.
struct ModelProgram {
    /// A value of a type, and whether the type must take it.
    struct Case {
        var type: String
        var value: JSONValue
        var isValid: Bool

        var json: JSONValue { ["type": .string(type), "value": value, "isValid": .bool(isValid)] }
    }

    private static let modules = [
        "Feathers", "FeathersAuthentication", "FeathersCaching", "FeathersCore", "FeathersJSON", "FeathersNetworking",
        "FeathersREST",
        "FeathersSocketIO", "FeathersSupport", "FeathersSync", "FeathersTraffic", "CCurl", "CLinuxIO", "CSQLite",
    ]

    private static var products: URL { SiblingProgram.url("") }
    private static let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized

    /// Only the layout of SwiftPM's own build is known here, not that of Xcode's.
    static var isPossible: Bool {
        FileManager.default.fileExists(atPath: products.appending(path: "Modules/Feathers.swiftmodule").path)
    }

    /// Compiles the files and runs the cases.
    /// - Parameter isolation: the actor that declarations are isolated to by default.
    /// - Returns: what the compiler or the program complains of, line by line.
    static func complaints(
        _ files: [String: String], types: [String], _ cases: [Case], isolation: String? = nil
    ) throws -> (lines: [String], compiling: Duration) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
        try Data(main(types).utf8).write(to: folder.appending(path: "main.swift"))
        let json = JSONValue.array(cases.map(\.json))
        try Data(json.serialized()).write(to: folder.appending(path: "cases.json"))

        let start = ContinuousClock.now
        var arguments = [
            "swiftc", "-Onone", "-wmo", "-swift-version", "6", "-module-name", "Models", "-o",
            folder.appending(path: "models").path,
        ]
        if let isolation { arguments += ["-default-isolation", isolation] }
        arguments += ["-warnings-as-errors", "-I", products.appending(path: "Modules").path]
        // The objects of such a test run need the sanitizer's library.
        if Environment.isThreadSanitized { arguments.append("-sanitize=thread") }
        for name in ["CCurl", "CLinuxIO", "CSQLite"] {
            arguments += [
                "-Xcc", "-fmodule-map-file=\(products.appending(path: "\(name).build/module.modulemap").path)",
            ]
        }
        arguments += (files.keys.sorted() + ["main.swift"]).map { folder.appending(path: $0).path }
        for module in modules {
            let objects = products.appending(path: module + ".build")
            // A build keeps the objects of sources that no longer exist.
            let sources = Set(
                (FileManager.default.subpaths(atPath: sources.appending(path: module).path) ?? []).map {
                    ($0 as NSString).lastPathComponent
                })
            let names = try FileManager.default.contentsOfDirectory(atPath: objects.path)
                .filter { $0.hasSuffix(".o") && sources.contains(String($0.dropLast(2))) }
            arguments += names.sorted().map { objects.appending(path: $0).path }
        }
        let compiled = try run("/usr/bin/env", arguments)
        let compiling = ContinuousClock.now - start
        guard compiled.code == 0 else { return (compiled.lines, compiling) }
        let result = try run(folder.appending(path: "models").path, [folder.appending(path: "cases.json").path])
        return (result.lines + (result.code == 0 ? [] : ["ended with \(result.code)"]), compiling)
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> (code: Int32, lines: [String]) {
        let (process, output) = (ChildProcess(), Pipe())
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (
            process.terminationStatus, String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        )
    }

    /// Decodes each value, encodes it again and compares; prints what is wrong.
    private static func main(_ types: [String]) -> String {
        """
        import Feathers
        import Foundation

        func roundTrip<Model: Codable & Equatable>(_ type: Model.Type) -> (JSONValue) throws -> JSONValue {
            { value in
                let model = try value.decode(type)
                let encoded = try JSONValue(encoding: model)
                guard try encoded.decode(type) == model else { return "decoded again, it differs" }
                return encoded
            }
        }

        let types: [String: (JSONValue) throws -> JSONValue] = [
            "": roundTrip(JSONValue.self),
        \(types.map { "    \"\($0)\": roundTrip(\($0).self)," }.joined(separator: "\n"))
        ]
        let cases = try JSONValue(parsing: Data(contentsOf: URL(filePath: CommandLine.arguments[1]))).array ?? []
        for one in cases {
            let (type, value) = (one["type"]?.string ?? "", one["value"] ?? nil)
            let isValid = one["isValid"]?.bool ?? false
            do {
                let encoded = try types[type]?(value)
                if !isValid {
                    print("\\(type) takes \\(value)")
                } else if encoded != value {
                    print("\\(type) makes \\(encoded ?? nil) of \\(value)")
                }
            } catch {
                if isValid { print("\\(type) refuses \\(value): \\(error)") }
            }
        }
        """
    }
}
