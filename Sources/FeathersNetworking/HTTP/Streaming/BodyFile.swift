import Foundation

/// A streaming body as one file, for clients that upload nothing else: the file itself where it is one, else a temporary one.
///
/// The temporary one is removed with the value's last owner.
final class BodyFile: Sendable {
    let url: URL
    let count: Int64
    private let isTemporary: Bool

    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` and ``HTTPClientError/Kind/unwritableFile``.
    init(_ body: HTTPBody) throws(HTTPClientError) {
        let reader = try HTTPBodyReader(body)
        count = reader.count
        if let file = body.onlyFile {
            url = file
            isTemporary = false
            return
        }
        url = FileManager.default.temporaryDirectory.appending(path: "feathers-\(UUID().uuidString)")
        isTemporary = true
        let file = try DownloadFile(url)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        while case let read = try reader.read(into: buffer), read > 0 {
            try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
        }
        try file.commit()
    }

    deinit {
        if isTemporary { unlink(url.path) }
    }
}

extension HTTPBody {
    fileprivate var onlyFile: URL? {
        if pieces.count == 1, case .file(let url) = pieces[0] { url } else { nil }
    }
}
