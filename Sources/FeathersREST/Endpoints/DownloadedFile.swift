public import Foundation

/// The response of an endpoint whose answer became a file.
public struct DownloadedFile: Hashable, Sendable {
    /// Where the file is: the place that was asked for.
    public var url: URL
}
