import Foundation

/// The package's own folders, found from where this file was compiled.
enum PackageFolder {
    static let url = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    static let backend = url.appending(path: "Tests/Backend")
    static let wire = url.appending(path: "Tests/Wire")
}
