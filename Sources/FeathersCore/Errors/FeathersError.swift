public import Foundation

/// An error that ends a call: a FeathersJS error from the server, or a local failure in the same form.
///
/// Catch by code:
///
/// ```swift
/// do { … } catch FeathersError.Code.notFound { … }
/// ```
///
/// ## Topics
///
/// ### What happened
/// - ``code-swift.property``
/// - ``Code-swift.struct``
/// - ``message``
/// - ``execution-swift.property``
/// - ``Execution-swift.enum``
/// - ``retryAfter``
/// - ``httpStatus``
///
/// ### Where
/// - ``method``
/// - ``path``
///
/// ### What the server sent
/// - ``name``
/// - ``className``
/// - ``data``
/// - ``errors``
/// - ``response-swift.property``
/// - ``Response-swift.struct``
///
/// ### The wire
/// - ``init(wire:status:)``
/// - ``wireForm``
/// - ``cause``
public struct FeathersError: Error, Sendable {
    /// The error code. Servers may define their own codes.
    public var code: Code
    /// The name of the error class, such as `NotFound`. Names that FeathersJS does not define are preserved.
    public var name: String
    /// The CSS-like name of the error class, such as `not-found`.
    public var className: String
    /// The human-readable message.
    public var message: String
    /// Additional data from the server.
    public var data: JSONValue?
    /// Validation errors from the server, usually keyed by property.
    public var errors: JSONValue?
    /// Whether the server executed the call, as far as the client can tell.
    public var execution: Execution
    /// The HTTP status and body of a response that isn't a Feathers error.
    public var response: Response?
    /// The delay that the server requests before a retry (`Retry-After` with HTTP status 429 or 503); nil if it
    /// requests none.
    public var retryAfter: Duration?
    /// The underlying error, if there is one.
    public var cause: (any Error)?
    /// The path of the called service; nil if the error did not come from a service call.
    public var path: String?
    /// The called method; nil if the error did not come from a service call.
    public var method: ServiceMethod?
    /// Text that the description adds to the server's message, such as the URL of the response. It contains no secrets.
    package var advice: String?
    /// Whether the server is one that doesn't get the app's token, so that a 401 says nothing about the app's user.
    package var isFromUntrustedServer = false

    /// Creates an error. The message appears in logs, so it must not contain secrets.
    public init(
        _ code: Code, _ message: String, data: JSONValue? = nil, errors: JSONValue? = nil,
        execution: Execution = .answered,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.name = code.name ?? "Error"
        self.className = code.className ?? "error"
        self.message = message
        self.data = data
        self.errors = errors
        self.execution = execution
        self.response = nil
        self.retryAfter = nil
        self.cause = cause
    }

    /// Creates the error for a call that cannot be sent as it is. The caller has to change the call.
    package static func refused(_ message: String) -> FeathersError {
        FeathersError(.badRequest, message, execution: .neverSent)
    }

    /// Whether a failed call was executed.
    public enum Execution: Hashable, Sendable {
        /// The server, or a local service or hook, responded with this error.
        case answered
        /// The call was never sent, so repeating it is safe.
        case neverSent
        /// The call was sent, but no response arrived. The server may have executed it.
        case mayHaveExecuted
    }

    /// A response that is neither a Feathers result nor a Feathers error.
    public struct Response: Sendable, Hashable {
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
    /// The name, code, message and call: `Timeout 408: No response arrived in time ('find' of 'messages', may have been
    /// executed)`.
    ///
    /// It never contains ``data``, ``errors`` or bodies, because those may contain secrets.
    public var description: String {
        let uncertainty: String? =
            switch execution {
            case .answered: nil
            case .neverSent: "never sent"
            case .mayHaveExecuted: "may have been executed"
            }
        let notes = [advice, callText, uncertainty].compactMap(\.self).joined(separator: ", ")
        return "\(name) \(code.rawValue): \(message)\(notes.isEmpty ? "" : " (\(notes))")"
    }

    /// The call; nil if the message already names it.
    private var callText: String? {
        guard let path, let method, !(message.contains("'\(path)'") && message.contains("'\(method)'")) else {
            return nil
        }
        return "'\(method)' of '\(path)'"
    }
}

extension FeathersError: LocalizedError {
    /// The same text as ``description``, for alerts and `localizedDescription`.
    public var errorDescription: String? { description }

    /// A sentence that says whether the call may have been executed; nil if the server responded.
    public var failureReason: String? {
        switch execution {
        case .answered: nil
        case .neverSent: "The call was not sent."
        case .mayHaveExecuted: "No response arrived, so the server may have executed the call."
        }
    }
}

extension FeathersError {
    /// Returns the error with the call that it ended. If the error already names a call, that call is kept.
    func ending(_ method: ServiceMethod, of path: String) -> FeathersError {
        var error = self
        if error.path == nil { (error.path, error.method) = (path, method) }
        return error
    }
}

extension FeathersError {
    /// Creates an error from JSON in the form that FeathersJS' `toJSON` writes.
    ///
    /// The class is determined by `code`, then by `name` or `className`, then by the status. Unknown values are
    /// preserved. All classes are known by name, including `Gone`, which FeathersJS' own client misses. An error object
    /// with none of these, such as a plain JavaScript `Error` over Socket.IO, becomes a ``Code/generalError`` named
    /// `Error`. Other properties go into ``data`` if the error has no data of its own.
    /// - Parameters:
    ///   - json: The error from the wire. A string becomes the ``message``. Any other value that isn't an object goes
    ///     into ``data``.
    ///   - status: The HTTP status of the response, for errors without a code.
    public init(wire json: JSONValue, status: Int? = nil) {
        guard case .object(let object) = json else {
            let message = json.string ?? ""
            self.init(
                Code(rawValue: status ?? 500),
                message.isEmpty ? "The server sent an error that is not an object" : message)
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

    /// The error in the form that FeathersJS' `toJSON` writes: name, message, code, className, data and errors.
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

    /// Returns the nonstandard properties of an error, so that nothing from the server is lost.
    private static func leftovers(of object: JSONObject, codeIsRead: Bool) -> JSONValue? {
        var rest = object
        for key in ["name", "message", "className", "errors", "type"] { rest[key] = nil }
        if codeIsRead { rest["code"] = nil }
        return rest.isEmpty ? nil : .object(rest)
    }

    /// Returns the error for a response that cannot be decoded. The message contains the path and the kind of value,
    /// never the value.
    /// - Parameter what: The subject of the message, such as `The result of 'get' on service 'messages'`.
    package static func undecodable(_ what: String, as model: Any.Type, _ error: any Error) -> FeathersError {
        if let record = error as? UndecodableRecord {
            if let failure = record.error as? FeathersError { return failure }
            let name = (record.index.map { " at index \($0)" } ?? "") + (record.id.map { " (id \($0))" } ?? "")
            return undecodable("Record\(name) of \(what.lowercasedFirst)", as: model, record.error)
        }
        return FeathersError(
            .generalError, "\(what) cannot be decoded as \(model): \(explanation(of: error))", cause: error)
    }

    /// Returns the error for call data that JSON cannot express. The message contains the path and the type, never the
    /// value.
    /// - Parameters:
    ///   - path: The path of the service.
    ///   - error: The error that the encoder threw.
    package static func unencodable(_ path: String, _ error: EncodingError) -> FeathersError {
        guard case .invalidValue(let value, let context) = error else {
            return FeathersError(
                .badRequest, "The data for service '\(path)' cannot be encoded", execution: .neverSent, cause: error)
        }
        let place = context.codingPath.isEmpty ? "" : " at '\(context.codingPath.map(step).joined(separator: "."))'"
        let reason = (value as? any FloatingPoint)?.isFinite == false ? ", which is not a finite number" : ""
        return FeathersError(
            .badRequest,
            "The data for service '\(path)' cannot be encoded: "
                + "JSON cannot express the \(type(of: value))\(place)\(reason)",
            execution: .neverSent, cause: error)
    }

    private static func explanation(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return String(describing: error) }
        func place(_ context: DecodingError.Context) -> String {
            context.codingPath.isEmpty
                ? "at the top level" : "at '\(context.codingPath.map(step).joined(separator: "."))'"
        }
        switch error {
        case .keyNotFound(let key, let context):
            return "'\(key.stringValue)' is missing" + (context.codingPath.isEmpty ? "" : " \(place(context))")
        case .valueNotFound(let type, let context): return "\(type) is null \(place(context))"
        case .typeMismatch(let type, let context):
            return "expected \(type) but found \(found(context)) \(place(context))"
        case .dataCorrupted(let context): return "\(withoutValue(context.debugDescription)) \(place(context))"
        @unknown default: return "an unknown decoding error occurred"
        }
    }

    private static func step(_ key: any CodingKey) -> String { key.intValue.map(String.init) ?? key.stringValue }

    private static func found(_ context: DecodingError.Context) -> String {
        let kinds = ["a boolean", "a number", "a string", "an array", "an object"]
        return kinds.first { context.debugDescription.contains("found \($0) instead") } ?? "something else"
    }

    /// Removes the value that the standard library quotes for an unknown enumeration case: "… from invalid String value
    /// secret".
    private static func withoutValue(_ description: String) -> String {
        description.firstRange(of: " from invalid ").map { String(description[..<$0.lowerBound]) } ?? description
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
