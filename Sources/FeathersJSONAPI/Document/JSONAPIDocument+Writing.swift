public import FeathersCore

extension JSONAPIDocument {
    /// The document as JSON, whether or not it keeps to the specification.
    public var json: JSONValue {
        var json: JSONObject = [:]
        if let jsonapi { json["jsonapi"] = jsonapi.json }
        if let data { json["data"] = data.json }
        if let errors { json["errors"] = .array(errors.map(\.json)) }
        if let included { json["included"] = .array(included.map(\.json)) }
        if !links.isEmpty { json["links"] = .object(links.json) }
        if let meta { json["meta"] = .object(meta) }
        for (name, value) in extensionMembers { json[name] = value }
        return .object(json)
    }

    /// The document as a JSON text in UTF-8.
    /// - Throws: the first ``JSONAPIError`` of ``violations(as:)``, and one for a number that JSON cannot express.
    public func serialized(as role: Role = .response) throws(JSONAPIError) -> [UInt8] {
        let json = json
        if let violation = Self.violations(in: json, as: role).first { throw violation }
        do {
            return try json.serialized()
        } catch {
            throw JSONAPIError(.root, error.description)
        }
    }

    /// Everything in the document that breaks the specification.
    public func violations(as role: Role = .response) -> [JSONAPIError] {
        Self.violations(in: json, as: role)
    }
}
