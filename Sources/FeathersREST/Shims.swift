public import FeathersCore
import Foundation
public struct QueryStringOptions: Sendable { public init() {} }
extension Query { func queryString(_ o: QueryStringOptions) throws -> String { "" } }
extension String { var percentEncodedComponent: String { self } }
extension JSONValue {
    init(parsing b: [UInt8]) throws { self = .null }
    func serialized() throws -> [UInt8] { [] }
}
