extension FeathersError {
    /// Reads an error as FeathersJS' `toJSON` writes it.
    ///
    /// The class is taken from `code`, else from `name` or `className`, else from the status; unknown ones are kept as they are.
    /// Every class is known by its name, `Gone` included, which FeathersJS' own client misses. An error object without any of them (a plain
    /// JavaScript `Error` over Socket.IO) becomes a ``Code/generalError`` named `Error`. Properties no field is made
    /// for are kept in ``data`` where the error brought no data of its own.
    /// - Parameters:
    ///   - json: the error as it came over the wire. What is no object is kept in ``data``, a string as ``message``.
    ///   - status: the HTTP status of the answer, used where the body carries no code.
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
        if data == nil {
            data = Self.leftovers(of: object, codeIsRead: number != nil)
        }
    }

    /// The error as FeathersJS' `toJSON` writes it: name, message, code, className, data, errors.
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

    /// What a plain error carried besides the standard properties, so that nothing a server said is lost.
    private static func leftovers(of object: JSONObject, codeIsRead: Bool) -> JSONValue? {
        var rest = object
        for key in ["name", "message", "className", "errors", "type"] { rest[key] = nil }
        if codeIsRead { rest["code"] = nil }
        return rest.isEmpty ? nil : .object(rest)
    }
}
