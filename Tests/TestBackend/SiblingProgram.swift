public import Foundation

/// An executable of this package, built beside the tests.
public enum SiblingProgram {
    public static func url(_ name: String) -> URL {
        #if canImport(Darwin)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            return (bundle ?? .main).bundleURL.deletingLastPathComponent().appending(path: name)
        #else
            return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
                path: name)
        #endif
    }

    /// Waits for processes where no other test needs the thread.
    public static func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
        -> Result
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }
}
