import FeathersJSON
import FeathersModels
import FeathersNetworking
import Foundation

/// Writes Swift models for the services of a FeathersJS server.
@main
struct FeathersModelsCommand {
    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Runs one command line and returns its exit code.
    static func run(_ arguments: [String], client: any HTTPClient = PlatformHTTPClient.make()) async -> Int32 {
        do {
            guard let arguments = try Arguments.read(arguments) else {
                print(Arguments.usage)
                return ExitCode.success
            }
            return try await run(arguments, client)
        } catch let mistake as Arguments.Mistake {
            complain("\(mistake)\n\n\(Arguments.usage)")
            return ExitCode.usage
        } catch let error as SchemaSources.Unusable {
            complain(error.description)
            return error.code
        } catch let error as OutputFolder.Problem {
            complain(error.description)
            return ExitCode.cannotWrite
        } catch {
            complain("\(error)")
            return ExitCode.badSource
        }
    }

    private static func run(_ arguments: Arguments, _ client: any HTTPClient) async throws -> Int32 {
        let reader = SchemaSources(arguments: arguments, client: client)
        let (sources, remarks) = try await reader.read()
        for remark in remarks { print(remark) }
        let output = ModelGenerator(origin: reader.origin, isPublic: arguments.isPublic).generate(from: sources)
        for warning in output.warnings { complain("warning: \(warning)") }
        // An empty document must not remove every model.
        guard !output.services.isEmpty else {
            throw SchemaSources.Unusable(description: "\(reader.origin) describes no services.")
        }

        let isSample = if case .sample = arguments.source { true } else { false }
        let folder = OutputFolder(path: arguments.output)
        let plan = OutputPlan(files: output.files, present: try folder.swiftFiles(), isSample: isSample)
        if arguments.isCheck {
            guard !plan.isEmpty else {
                print("\(arguments.output) is up to date.")
                return ExitCode.success
            }
            print("\(arguments.output) is not up to date with \(reader.origin):\n\(plan.difference)", terminator: "")
            return ExitCode.difference
        }
        guard plan.refused.isEmpty else {
            let names = plan.refused.map { "'\($0)'" }.joined(separator: ", ")
            throw OutputFolder.Problem(
                description:
                    "\(names) in '\(arguments.output)' was not written by feathers-models. "
                    + "Move it, or choose another folder.")
        }
        try folder.apply(plan)
        let count = output.services.count == 1 ? "1 service" : "\(output.services.count) services"
        print("\(count), \(plan.written.count) files written, \(plan.removed.count) removed in \(arguments.output).")
        return ExitCode.success
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

/// Exit codes, as in `sysexits.h`. 1 means that `--check` found a difference.
enum ExitCode {
    static let success: Int32 = 0
    static let difference: Int32 = 1
    static let usage: Int32 = 64
    static let badSource: Int32 = 65
    static let unavailable: Int32 = 69
    static let cannotWrite: Int32 = 73
}
