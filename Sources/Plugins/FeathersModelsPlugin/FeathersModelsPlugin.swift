import Foundation
import PackagePlugin

/// `swift package feathers-models`: runs the tool of the same name in the package's folder.
@main
struct FeathersModelsPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        guard !arguments.contains("-"), !arguments.contains("--from=-") else {
            Diagnostics.error(
                "A plugin has no standard input. Run 'swift run feathers-models' in a clone of feathers-swift instead.")
            exit(64)
        }
        let process = Process()
        process.executableURL = try context.tool(named: "feathers-models").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        // This process's own input belongs to the package manager.
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        // The tool has said what is wrong; the package manager ends with the same code.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
