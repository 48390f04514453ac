import Foundation

/// The parsed command line.
struct Arguments: Equatable {
    /// The source of the schemas.
    enum Source: Equatable {
        case url(URL)
        case path(String)
        case standardInput
        /// Records of a running server's services.
        case sample(URL, services: [String])
    }

    var source: Source
    var output: String
    /// Header fields of requests. Their values are never printed.
    var headers: [Field] = []
    var isCheck = false
    var isPublic = false

    struct Field: Equatable {
        var name: String
        var value: String
    }

    static let usage = """
        Usage: feathers-models --from SOURCE --output FOLDER [options]
               feathers-models --sample URL --output FOLDER [options] SERVICE…

          --from SOURCE           an OpenAPI document in JSON, as feathers-swagger serves it, or JSON Schema:
                                  a URL, a file, a folder, or - for standard input
          --sample URL            look at records of this server's services instead, and guess
          --output FOLDER         the folder for the Swift files
          --check                 write nothing; exit with 1 and the difference if the folder is not up to date
          --public                make types and properties public
          --header 'Name: value'  send a header field; may be repeated
          --token TOKEN           send 'Authorization: Bearer TOKEN'
          --help                  show this help

        Only files that feathers-models wrote are overwritten or removed.

        Exit codes: 0 done, 1 the folder is not up to date, 64 wrong arguments, 65 the source cannot be used,
        69 the server cannot be reached or refuses, 73 a file is in the way or cannot be written.
        """

    /// An error in the command line.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads a command line; nil if it asks for help.
    static func read(_ arguments: some Sequence<String>) throws -> Arguments? {
        var (from, sampled, output): (String?, String?, String?)
        var (services, headers) = ([String](), [Field]())
        var (isCheck, isPublic) = (false, false)
        var rest = ArraySlice(Array(arguments))
        while let argument = rest.popFirst() {
            // `--name=value` is `--name value`.
            let isPair = argument.hasPrefix("--") && argument.contains("=")
            let parts =
                isPair
                ? argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                : [argument]
            func value() throws -> String {
                if parts.count == 2 { return parts[1] }
                guard let next = rest.popFirst() else { throw Mistake(description: "'\(argument)' needs a value.") }
                return next
            }
            switch parts[0] {
            case "--help", "-h": return nil
            case "--from": from = try value()
            case "--sample": sampled = try value()
            case "--output": output = try value()
            case "--header": headers.append(try field(value()))
            case "--token": headers.append(Field(name: "Authorization", value: "Bearer " + (try value())))
            case "--check": isCheck = true
            case "--public": isPublic = true
            // The value after the name may be a secret.
            case let name where name.hasPrefix("-"): throw Mistake(description: "Unknown argument '\(name)'.")
            default: services.append(argument)
            }
        }
        guard let output else { throw Mistake(description: "'--output' is missing: the folder for the Swift files.") }
        let source = try source(from, sampled, services)
        return Arguments(source: source, output: output, headers: headers, isCheck: isCheck, isPublic: isPublic)
    }

    private static func source(_ from: String?, _ sampled: String?, _ services: [String]) throws -> Source {
        switch (from, sampled) {
        case (nil, nil): throw Mistake(description: "'--from' or '--sample' is missing: where the schemas come from.")
        case (_?, _?): throw Mistake(description: "'--from' and '--sample' exclude each other.")
        case (nil, let url?):
            guard let url = server(url) else {
                throw Mistake(description: "'--sample' needs a URL that begins with http:// or https://.")
            }
            guard !services.isEmpty else { throw Mistake(description: "'--sample' needs the services to look at.") }
            return .sample(url, services: services)
        case (let from?, nil):
            if let first = services.first {
                throw Mistake(description: "Unknown argument '\(first)'. Services are named only with '--sample'.")
            }
            if from == "-" { return .standardInput }
            return server(from).map { .url($0) } ?? .path(from)
        }
    }

    private static func server(_ text: String) -> URL? {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), url.host() != nil else { return nil }
        return ["http", "https"].contains(scheme) ? url : nil
    }

    private static func field(_ text: String) throws -> Field {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2 else {
            throw Mistake(description: "'--header' needs a name and a value: 'Name: value'.")
        }
        return Field(name: parts[0], value: parts[1])
    }
}
