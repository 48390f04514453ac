import FeathersJSON
import FeathersModels
import FeathersNetworking
import Foundation

/// Reads a source: documents from files and servers, or records from which schemas are guessed.
struct SchemaSources {
    let arguments: Arguments
    let client: any HTTPClient

    /// The reason why a source cannot be used.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
        var code = ExitCode.badSource
    }

    /// Returns the documents, and remarks for the user.
    func read() async throws -> (sources: [SchemaSource], remarks: [String]) {
        switch arguments.source {
        case .standardInput:
            return ([try source(try FileHandle.standardInput.readToEnd() ?? Data(), named: "standard input")], [])
        case .url(let url): return ([try source(Data(await get(url)), named: url.withoutCredentials)], [])
        case .path(let path): return try files(at: path)
        case .sample(let url, let services): return try await sample(url, services)
        }
    }

    /// The source as named in the headers of generated files: without credentials, and without this machine's folders.
    var origin: String {
        switch arguments.source {
        case .standardInput: "standard input"
        case .url(let url): url.withoutCredentials
        case .path(let path): path.hasPrefix("/") ? URL(filePath: path).lastPathComponent : path
        case .sample(let url, _): "records of \(url.withoutCredentials)"
        }
    }

    private func source(_ data: Data, named name: String) throws -> SchemaSource {
        // JSON must not begin with a byte order mark, and readers may ignore it (RFC 8259, section 8.1).
        let text = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
        do {
            return SchemaSource(name: name, json: try JSONValue(parsing: text))
        } catch {
            throw Unusable(description: "\(name) is not JSON: \(error)")
        }
    }

    // MARK: Files

    private func files(at path: String) throws -> (sources: [SchemaSource], remarks: [String]) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Unusable(description: "There is no '\(path)'.")
        }
        guard isFolder.boolValue else {
            let url = URL(filePath: path)
            return ([try source(Data(contentsOf: url), named: url.lastPathComponent)], [])
        }
        let names = try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
            name.hasSuffix(".json")
                && !name.split(separator: "/").contains { $0.hasPrefix(".") || $0 == "node_modules" }
        }
        guard !names.isEmpty else { throw Unusable(description: "'\(path)' holds no JSON files.") }
        let folder = URL(filePath: path)
        return (try names.sorted().map { try source(Data(contentsOf: folder.appending(path: $0)), named: $0) }, [])
    }

    // MARK: Servers

    private func get(_ url: URL) async throws -> [UInt8] {
        var request = HTTPRequest(url: url, timeout: .seconds(60), maximumResponseBytes: 64 << 20)
        try request.headers.set("Accept", to: "application/json")
        for field in arguments.headers { try request.headers.set(field.name, to: field.value) }
        let response: HTTPResponse
        do {
            response = try await client.execute(request)
        } catch let error as HTTPClientError {
            throw Unusable(
                description: "\(url.withoutCredentials) cannot be read: \(error)", code: ExitCode.unavailable)
        }
        guard response.isSuccess else {
            let hint =
                response.status == 401 || response.status == 403
                ? " Pass '--token' or '--header' if it is protected." : ""
            throw Unusable(
                description: "\(url.withoutCredentials) answers with status \(response.status).\(hint)",
                code: ExitCode.unavailable)
        }
        return response.body
    }

    private func sample(_ server: URL, _ services: [String]) async throws -> (
        sources: [SchemaSource], remarks: [String]
    ) {
        var (sources, remarks) = ([SchemaSource](), [String]())
        for service in services {
            let path = service.split(separator: "/").joined(separator: "/")
            let url = server.appending(path: path).appending(queryItems: [URLQueryItem(name: "$limit", value: "200")])
            let result = try source(Data(await get(url)), named: url.withoutCredentials)
            guard let records = RecordSampler.records(of: result.json) else {
                throw Unusable(
                    description: "\(url.withoutCredentials) answers with neither a list nor a page of records.")
            }
            let sampler = RecordSampler(path: path, records: records)
            remarks.append(sampler.confidence)
            if let source = sampler.source { sources.append(source) }
        }
        return (sources, remarks)
    }
}
