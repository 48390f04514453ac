import Foundation
import PackagePlugin

/// `swift package feathers-models`: runs the tool of the same name in the package's folder.
@main
struct FeathersModelsPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let process = Process()
        process.executableURL = try context.tool(named: "feathers-models").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        // The tool has said what is wrong; the package manager ends with the same code.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
