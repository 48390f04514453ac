public import Foundation

/// An error of a call: a FeathersJS error from the server, or a local failure in the same form.
///
/// Catch by code:
///
/// ```swift
/// do { … } catch FeathersError.Code.notFound { … }
/// ```
public struct FeathersError: Error, Sendable {
    /// The error code. Servers may define their own codes.
    public var code: Code
    /// The name of the error class, such as `NotFound`. Unknown names from a server are kept.
    public var name: String
    /// The CSS-like name of the error class, such as `not-found`.
    public var className: String
    /// The human-readable message.
    public var message: String
    /// Additional data from the server.
    public var data: JSONValue?
    /// Validation errors from the server, usually keyed by property.
    public var errors: JSONValue?
    /// Whether the server executed the call, as far as that is known.
    public var execution: Execution
    /// The HTTP status and body of an answer that is not a Feathers error.
    public var answer: Answer?
    /// How long the server asks to wait before a retry (`Retry-After` of HTTP status 429 and 503); nil if it does not.
    public var retryAfter: Duration?
    /// The underlying error, if there is one.
    public var cause: (any Error)?
    /// The path of the service that was called; nil for an error that no service's call threw.
    public var path: String?
    /// The method that was called; nil for an error that no service's call threw.
    public var method: ServiceMethod?
    /// What the description adds to the message of a server, such as the URL that answered; it contains no secrets.
    package var hint: String?

    /// Creates an error. The message is printed, so it must not contain secrets.
    public init(
        _ code: Code, _ message: String, data: JSONValue? = nil, errors: JSONValue? = nil, execution: Execution = .answered,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.name = code.name ?? "Error"
        self.className = code.className ?? "error"
        self.message = message
        self.data = data
        self.errors = errors
        self.execution = execution
        self.answer = nil
        self.retryAfter = nil
        self.cause = cause
    }

    /// The call itself cannot be sent as it is: the caller has to change it.
    package static func refused(_ message: String) -> FeathersError {
        FeathersError(.badRequest, message, execution: .neverSent)
    }

    /// Whether a failed call was executed.
    public enum Execution: Hashable, Sendable {
        /// The server, or a local service or hook, answered with this error.
        case answered
        /// The call was never sent, so repeating it is safe.
        case neverSent
        /// The call was sent, but no answer came: the server may have executed it.
        case mayHaveExecuted
    }

    /// An answer that is neither a Feathers result nor a Feathers error.
    public struct Answer: Sendable, Hashable {
        /// The HTTP status.
        public var status: Int
        /// The body.
        public var body: [UInt8]

        package init(status: Int, body: [UInt8]) {
            self.status = status
            self.body = body
        }
    }
}

extension FeathersError: CustomStringConvertible {
    /// Name, code, message and the call: `Timeout 408: No answer came in time ('find' of 'messages', may have been executed)`.
    ///
    /// It never contains data, errors or bodies, which may contain secrets.
    public var description: String {
        let uncertainty: String? =
            switch execution {
            case .answered: nil
            case .neverSent: "never sent"
            case .mayHaveExecuted: "may have been executed"
            }
        let notes = [hint, call, uncertainty].compactMap(\.self).joined(separator: ", ")
        return "\(name) \(code.rawValue): \(message)\(notes.isEmpty ? "" : " (\(notes))")"
    }

    /// The call, unless the message names it already.
    private var call: String? {
        guard let path, let method, !(message.contains("'\(path)'") && message.contains("'\(method)'")) else { return nil }
        return "'\(method)' of '\(path)'"
    }
}

extension FeathersError: LocalizedError {
    /// What ``description`` says, for alerts and for `localizedDescription`.
    public var errorDescription: String? { description }

    /// Whether the call was executed, where that is not certain or nothing was sent.
    public var failureReason: String? {
        switch execution {
        case .answered: nil
        case .neverSent: "The call was not sent."
        case .mayHaveExecuted: "No answer came, so the server may have executed the call."
        }
    }
}

extension FeathersError {
    /// The error with the call that it ended; the innermost call wins.
    func ending(_ method: ServiceMethod, of path: String) -> FeathersError {
        var error = self
        if error.path == nil { (error.path, error.method) = (path, method) }
        return error
    }
}

extension FeathersError {
    /// Creates an error from JSON as FeathersJS' `toJSON` writes it.
    ///
    /// The class is determined by `code`, then by `name` or `className`, then by the status; unknown ones are kept. All classes are known by
    /// name, including `Gone`, which FeathersJS' own client misses. An error object without any of them (a plain JavaScript `Error` over
    /// Socket.IO) becomes a ``Code/generalError`` named `Error`. Other properties are kept in ``data`` if the error has no data of its own.
    /// - Parameters:
    ///   - json: the error from the wire. A string becomes the ``message``; any other value that is not an object is kept in ``data``.
    ///   - status: the HTTP status of the answer, for errors without a code.
    public init(wire json: JSONValue, status: Int? = nil) {
        guard case .object(let object) = json else {
            let message = json.string ?? ""
            self.init(Code(rawValue: status ?? 500), message.isEmpty ? "The server answered with an error that is no object" : message)
            if json.string == nil, json != .null { data = json }
            if status == nil { (name, className) = ("Error", "error") }
            return
        }
        let name = object["name"]?.string
        let className = object["className"]?.string
        let known = Code.classes.first { $0.name == name } ?? Code.classes.first { $0.className == className }
        let number = object["code"]?.integer.flatMap { Int(exactly: $0) }
        let code = number.map(Code.init(rawValue:)) ?? known?.code ?? Code(rawValue: status ?? 500)
        let isPlain = name == nil && className == nil && number == nil && status == nil
        self.init(code, object["message"]?.string ?? "Error", data: object["data"], errors: object["errors"])
        self.name = name ?? known?.name ?? (isPlain ? "Error" : self.name)
        self.className = className ?? known?.className ?? (isPlain ? "error" : self.className)
        if data == nil { data = Self.leftovers(of: object, codeIsRead: number != nil) }
    }

    /// The error as FeathersJS' `toJSON` writes it, with name, message, code, className, data and errors.
    public var wireForm: JSONValue {
        var object: JSONObject = [
            "name": .string(name),
            "message": .string(message),
            "code": .integer(Int64(code.rawValue)),
            "className": .string(className),
        ]
        if let data { object["data"] = data }
        if let errors { object["errors"] = errors }
        return .object(object)
    }

    /// The properties of an error besides the standard ones, so that nothing from the server is lost.
    private static func leftovers(of object: JSONObject, codeIsRead: Bool) -> JSONValue? {
        var rest = object
        for key in ["name", "message", "className", "errors", "type"] { rest[key] = nil }
        if codeIsRead { rest["code"] = nil }
        return rest.isEmpty ? nil : .object(rest)
    }

    /// The error for an answer that cannot be decoded. The message contains the path and the kind of value, never the value.
    /// - Parameter what: the subject of the message, such as `A result of service 'messages'`.
    package static func undecodable(_ what: String, as model: Any.Type, _ error: any Error) -> FeathersError {
        if let record = error as? UndecodableRecord {
            if let failure = record.error as? FeathersError { return failure }
            let name = (record.index.map { " \($0)" } ?? "") + (record.id.map { " (id \($0))" } ?? "")
            return undecodable("Record\(name) of \(what.lowercasedFirst)", as: model, record.error)
        }
        return FeathersError(.generalError, "\(what) is no \(model): \(explanation(of: error))", cause: error)
    }

    /// The error for a value that a call should send and that JSON cannot express. The message contains the path and the type, never the value.
    /// - Parameters:
    ///   - path: the path of the service.
    ///   - error: what the encoder has thrown.
    package static func unencodable(_ path: String, _ error: EncodingError) -> FeathersError {
        guard case .invalidValue(let value, let context) = error else {
            return FeathersError(.badRequest, "The data for service '\(path)' cannot be encoded", execution: .neverSent, cause: error)
        }
        let place = context.codingPath.isEmpty ? "" : " at '\(context.codingPath.map(step).joined(separator: "."))'"
        return FeathersError(
            .badRequest, "The data for service '\(path)' cannot be encoded: JSON has no form for the \(type(of: value))\(place)",
            execution: .neverSent, cause: error)
    }

    private static func explanation(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return String(describing: error) }
        func place(_ context: DecodingError.Context) -> String {
            context.codingPath.isEmpty ? "at the top" : "at '\(context.codingPath.map(step).joined(separator: "."))'"
        }
        switch error {
        case .keyNotFound(let key, let context): return "'\(key.stringValue)' is missing \(place(context))"
        case .valueNotFound(let type, let context): return "\(type) is null \(place(context))"
        case .typeMismatch(let type, let context): return "no \(type) but \(found(context)) \(place(context))"
        case .dataCorrupted(let context): return "\(withoutValue(context.debugDescription)) \(place(context))"
        @unknown default: return "it cannot be decoded"
        }
    }

    private static func step(_ key: any CodingKey) -> String { key.intValue.map(String.init) ?? key.stringValue }

    private static func found(_ context: DecodingError.Context) -> String {
        let kinds = ["a boolean", "a number", "a string", "an array", "an object"]
        return kinds.first { context.debugDescription.contains("found \($0) instead") } ?? "something else"
    }

    /// The standard library quotes values that are not a case of an enumeration: "… from invalid String value secret".
    private static func withoutValue(_ description: String) -> String {
        description.firstRange(of: " from invalid ").map { String(description[..<$0.lowerBound]) } ?? description
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
