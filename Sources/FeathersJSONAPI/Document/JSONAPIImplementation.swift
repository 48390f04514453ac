public import FeathersCore

/// What a server says of its implementation: the `jsonapi` object.
public struct JSONAPIImplementation: Hashable, Sendable {
    /// The highest version of the specification that is supported; nil means 1.0 at least.
    public var version: String?
    /// The extensions that were applied, by their addresses.
    public var ext: [String]
    /// The profiles that were applied, by their addresses.
    public var profile: [String]
    /// What else the server says of it.
    public var meta: JSONObject?

    /// An implementation; the parameters are the properties of the same names.
    public init(version: String? = nil, ext: [String] = [], profile: [String] = [], meta: JSONObject? = nil) {
        self.version = version
        self.ext = ext
        self.profile = profile
        self.meta = meta
    }

    init(reading json: JSONObject) {
        self.init(
            version: json["version"]?.string, ext: json["ext"]?.array?.compactMap(\.string) ?? [],
            profile: json["profile"]?.array?.compactMap(\.string) ?? [], meta: json["meta"]?.object)
    }

    var json: JSONValue {
        var json: JSONObject = [:]
        if let version { json["version"] = .string(version) }
        if !ext.isEmpty { json["ext"] = .array(ext.map(JSONValue.string)) }
        if !profile.isEmpty { json["profile"] = .array(profile.map(JSONValue.string)) }
        if let meta { json["meta"] = .object(meta) }
        return .object(json)
    }
}
