import Feathers
import Foundation

/// Opens the stores whose folders are the lines of standard input, one after the other, and uses each as an app does.
///
/// A line of the output is `FOLDER refused REASON`, or `FOLDER shown TEXTS`: what a live query of `notes` shows without
/// a server, separated by commas.
enum LocalReader {
    static func run() async {
        while let path = readLine() {
            let line: String
            do {
                line = "\(path) shown \(try await use(URL(filePath: path, directoryHint: .isDirectory)))"
            } catch {
                line = "\(path) refused \("\(error)".replacing("\n", with: " "))"
            }
            // At once, because the next store may end the process.
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }
    }

    private static func use(_ folder: URL) async throws -> String {
        let app = FeathersApp(transport: WriteOnlyServer())
        var store = LocalStore.directory(folder)
        store.writeDelay = .zero
        store.maximumSize = 100_000
        try await app.use(localStore: store) { $0.isKeyed = true }
        do {
            let shown = try await withFeathersApp(app) { app in
                _ = try? await app.localStore?.contents()
                var texts = ""
                for try await snapshot in app.service("notes").live(.sorted(by: "id")).snapshots {
                    texts = snapshot.records.map { $0["text"]?.string ?? "" }.joined(separator: ",")
                    break
                }
                _ = try? await app.service("notes").outbox.create(["text": "new"])
                _ = try await app.outbox?.flush(within: .seconds(2))
                return texts
            }
            _ = try? await app.localStore?.contents()
            try? await app.localStore?.removeAll()
            await app.outbox?.close()
            return shown
        } catch {
            await app.outbox?.close()
            throw error
        }
    }
}

/// A server that executes writes and cannot be read.
private struct WriteOnlyServer: Transport {
    func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        if [.find, .get].contains(request.method) { throw FeathersError(.unavailable, "Away", execution: .neverSent) }
        return ServiceResponse(.object(["id": .integer(99), "text": request.data?["text"] ?? .null]))
    }
}
