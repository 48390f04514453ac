// expect: nearly matches defaulted requirement 'patch(_:with:_:)' of protocol 'ServiceProtocol'
// article: Services.md
import Feathers

actor Books {}

extension Books: ServiceProtocol {
    // fix: func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
    func patch(_ id: ServiceID, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        data
    }
}
