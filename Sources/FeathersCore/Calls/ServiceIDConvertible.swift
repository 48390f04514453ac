#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What can stand where a service wants an id: strings, integers, UUIDs, or an id type of your own.
public protocol ServiceIDConvertible {
    /// The id that the service is asked for.
    var serviceID: ServiceID { get }
}

extension ServiceID: ServiceIDConvertible {
    public var serviceID: ServiceID { self }
}

extension String: ServiceIDConvertible {
    public var serviceID: ServiceID { .string(self) }
}

extension Int: ServiceIDConvertible {
    public var serviceID: ServiceID { .integer(Int64(self)) }
}

extension Int64: ServiceIDConvertible {
    public var serviceID: ServiceID { .integer(self) }
}

extension Int32: ServiceIDConvertible {
    public var serviceID: ServiceID { .integer(Int64(self)) }
}

extension UUID: ServiceIDConvertible {
    /// The UUID in lower case, as JavaScript libraries write it.
    public var serviceID: ServiceID { .string(uuidString.lowercased()) }
}
