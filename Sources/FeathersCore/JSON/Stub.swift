struct JSONValueEncoder { func encode(_ v: some Encodable) throws -> JSONValue { .null } }
struct JSONValueDecoder { func decode<T: Decodable>(_ t: T.Type, from: JSONValue) throws -> T { fatalError() } }
