public import FeathersCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The type of a model's id. In documents ids are strings, whatever they are here.
public protocol JSONAPIModelID: Codable, Sendable {
    /// The id as it stands in a document; nil for none.
    var jsonAPIText: String? { get }
}

extension JSONAPIModelID where Self: ServiceIDConvertible {
    public var jsonAPIText: String? { serviceID.description }
}

extension String: JSONAPIModelID {}
extension Int: JSONAPIModelID {}
extension Int32: JSONAPIModelID {}
extension Int64: JSONAPIModelID {}
extension UUID: JSONAPIModelID {}
extension ServiceID: JSONAPIModelID {}

extension Optional: JSONAPIModelID where Wrapped: JSONAPIModelID {
    public var jsonAPIText: String? { self?.jsonAPIText }
}
