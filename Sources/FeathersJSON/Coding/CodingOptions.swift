/// How models become JSON and JSON becomes models.
///
/// ```swift
/// app.coding = CodingOptions(dates: .secondsSince1970, keys: .snakeCase)
/// ```
///
/// For an app, for a service (``FeathersApp/service(_:of:rootKeys:coding:)``) and for a call (``Params/coding``); the nearest one counts, as a
/// whole. Anything that goes further is a ``JSONCodec`` of your own.
public struct CodingOptions: Sendable {
    /// How dates are written and read.
    public var dates: JSONDateFormat
    /// How `Data` is written and read.
    public var data: JSONDataFormat
    /// How the names of properties are written and read.
    public var keys: JSONKeyFormat
    /// How infinities and NaN are written and read.
    public var nonConformingFloats: JSONFloatFormat
    /// Handed to every type that is encoded or decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Options; the parameters are the properties of the same names.
    public init(
        dates: JSONDateFormat = .iso8601, data: JSONDataFormat = .base64, keys: JSONKeyFormat = .asIs,
        nonConformingFloats: JSONFloatFormat = .refused, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.dates = dates
        self.data = data
        self.keys = keys
        self.nonConformingFloats = nonConformingFloats
        self.userInfo = userInfo
    }
}

extension CodingOptions: JSONCodec {
    public func encode(_ value: some Encodable) throws -> JSONValue {
        try JSONValueEncoder(self).encode(value)
    }

    public func decode<T: Decodable>(_ type: T.Type, from json: JSONValue) throws -> T {
        try JSONValueDecoder(self).decode(type, from: json)
    }
}
