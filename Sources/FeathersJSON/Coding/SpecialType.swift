#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The types whose JSON form is not the one their own `Codable` conformance gives.
enum SpecialType {
    case none, jsonValue, jsonObject, date, url, data, decimal

    /// Six comparisons of pointers, which every value that is decoded or encoded pays for.
    @inline(__always)
    init(_ type: any Any.Type) {
        if type == JSONValue.self {
            self = .jsonValue
        } else if type == Date.self {
            self = .date
        } else if type == URL.self {
            self = .url
        } else if type == Data.self {
            self = .data
        } else if type == Decimal.self {
            self = .decimal
        } else if type == JSONObject.self {
            self = .jsonObject
        } else {
            self = .none
        }
    }
}
