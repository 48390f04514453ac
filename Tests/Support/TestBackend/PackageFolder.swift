package import Foundation

/// The package's own folders, found from where this file was compiled, if need be through a link.
package enum PackageFolder {
    package static let url = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    package static let backend = url.appending(path: "Tests/Support/Backend")
    package static let wire = url.appending(path: "Tests/Support/Wire")
}
