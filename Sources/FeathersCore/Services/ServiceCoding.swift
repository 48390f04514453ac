extension FeathersApp {
    /// The codec between models and JSON, unless a service or call sets its own.
    public var coding: any JSONCodec {
        get { self[AppCoding.self] ?? defaultCoding }
        set { self[AppCoding.self] = newValue }
    }
}

extension Params {
    /// The codec between models and JSON for this call. It overrides the service's and the app's, and is never sent.
    public var coding: (any JSONCodec)? {
        get { self[CallCoding.self] }
        set { self[CallCoding.self] = newValue }
    }
}

/// Boxed once, because creating it for every call would allocate.
let defaultCoding: any JSONCodec = CodingOptions()

private enum AppCoding: AppSetting { typealias Value = any JSONCodec }
private enum CallCoding: ParamsKey { typealias Value = any JSONCodec }

extension Service {
    /// Returns the codec of the call, the service or the app, in this order.
    package func codec(for params: Params) -> any JSONCodec { params.coding ?? recordFormat?.coding ?? app.coding }

    // MARK: What is sent

    /// Encodes the data of a call. JSON is sent as it is.
    /// - Throws: ``FeathersError/Code/badRequest`` that names the property that JSON cannot express, such as a NaN.
    package func encoded<Data: Encodable>(_ data: Data, _ params: Params) throws -> JSONValue {
        if Data.self == JSONValue.self, let json = data as? JSONValue { return json }
        return try codec(for: params).encodeSent(data, to: path)
    }

    /// Returns a literal as the object that is sent. Its keys, and values that JSON can express, are written unchanged;
    /// other values are written in the codec's formats.
    package func encoded(
        _ literal: KeyValuePairs<String, any Encodable & Sendable>, _ params: Params
    ) throws -> JSONValue {
        let codec = codec(for: params)
        var object = JSONObject(minimumCapacity: literal.count)
        for (name, value) in literal {
            object[name] =
                switch value {
                case let json as JSONValue: json
                case let text as String: .string(text)
                case let number as Int: .integer(Int64(number))
                case let flag as Bool: .bool(flag)
                default: try codec.encodeSent(value, to: path, at: name)
                }
        }
        return .object(object)
    }

    // MARK: What is received

    /// Decodes a result of `find`.
    package func decodePage(_ json: JSONValue, _ params: Params) throws -> Page<Model> {
        try decodePage(ServiceResponse(json), params)
    }

    /// Decodes a result of a method that is one record.
    package func decodeResult(_ json: JSONValue, of method: ServiceMethod, _ params: Params) throws -> Model {
        try decode(ServiceResponse(json), method, params)
    }

    /// Decodes a record of a list.
    func decodeRecord(_ json: JSONValue, _ params: Params) throws -> Model {
        if Model.self == JSONValue.self { return identity(json, as: Model.self) }
        return try codec(for: params).decode(Model.self, from: json)
    }

    /// Returns the records of a result of `find` without decoding them.
    package func page(_ json: JSONValue) throws -> Page<JSONValue> { try page(json, of: .find) }

    func page(_ json: JSONValue, of method: ServiceMethod) throws -> Page<JSONValue> {
        let json = rootKeys.isEmpty ? json : try named(method, Model.self) { try json.unwrapped(by: rootKeys) }
        return try Page(json: json, of: method)
    }

    func decodePage(
        _ response: ServiceResponse, of method: ServiceMethod = .find, _ params: Params
    ) throws -> Page<Model> {
        if Model.self == JSONValue.self { return identity(try page(response.result, of: method), as: Page<Model>.self) }
        do {
            return try named(method, Model.self) {
                try response.decodePage(of: Model.self, at: rootKeys, codec(for: params), of: method)
            }
        } catch {
            guard params.skipsUndecodableRecords else { throw error }
            return try decodePageSkipping(response.result, of: method, params)
        }
    }

    @inline(__always)
    func decode<Value: Decodable>(
        _ response: ServiceResponse, _ method: ServiceMethod, as type: Value.Type = Model.self, _ params: Params
    ) throws -> Value {
        if Value.self == JSONValue.self, rootKeys.isEmpty { return identity(response.result, as: type) }
        return try decodeModel(response, method, as: type, params)
    }

    private func decodeModel<Value: Decodable>(
        _ response: ServiceResponse, _ method: ServiceMethod, as type: Value.Type, _ params: Params
    ) throws -> Value {
        try named(method, type) { try response.decode(type, at: rootKeys, codec(for: params)) }
    }

    /// Adds the method, the service and the model to the errors of a decoder.
    private func named<Value>(_ method: ServiceMethod, _ type: Any.Type, _ decode: () throws -> Value) throws -> Value {
        do {
            return try decode()
        } catch let error as FeathersError {
            throw error
        } catch {
            throw FeathersError.undecodable("The result of '\(method)' on service '\(path)'", as: type, error)
        }
    }
}

extension JSONCodec {
    /// Encodes the data of a call.
    /// - Parameters:
    ///   - value: The model or other data to send.
    ///   - path: The path of the service.
    ///   - property: The property that holds the value; nil if the value is the data itself.
    /// - Throws: ``FeathersError/Code/badRequest`` that names the property that JSON cannot express, such as a NaN, and
    ///   any error that the model throws.
    package func encodeSent(
        _ value: some Encodable, to path: String, at property: String? = nil
    ) throws -> JSONValue {
        do {
            return try encode(value)
        } catch EncodingError.invalidValue(let value, let context) {
            let keys = (property.map { [JSONKey(stringValue: $0)] } ?? []) + context.codingPath
            let context = EncodingError.Context(codingPath: keys, debugDescription: context.debugDescription)
            throw FeathersError.unencodable(path, .invalidValue(value, context))
        } catch let error as EncodingError {
            throw FeathersError.unencodable(path, error)
        }
    }
}
