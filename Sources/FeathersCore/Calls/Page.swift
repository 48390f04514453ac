/// A result of `find`: a page with its totals, or a whole list from a service that does not paginate.
///
/// It is a collection of its records.
public struct Page<Model: Sendable>: Sendable {
    /// The records.
    public var data: [Model]
    /// The total number of matching records; nil if the service does not paginate.
    public var total: Int?
    /// The maximum number of records on a page; nil if the service does not paginate.
    public var limit: Int?
    /// The number of records before this page; nil if the service does not paginate.
    public var skip: Int?
    /// Whatever else the server sent with the page.
    public var extra: JSONObject

    /// Creates a page of records.
    /// - Parameters:
    ///   - data: The records.
    ///   - total: The total number of matching records, if it is known.
    ///   - limit: The maximum number of records on a page, if there is one.
    ///   - skip: The number of records before this page, if it is known.
    ///   - extra: Whatever else belongs to the page.
    public init(
        data: [Model], total: Int? = nil, limit: Int? = nil, skip: Int? = nil, extra: JSONObject = JSONObject()
    ) {
        self.data = data
        self.total = total
        self.limit = limit
        self.skip = skip
        self.extra = extra
    }

    /// The progress through the whole list up to and including this page, from 0 to 1; nil without a total.
    public var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : Swift.min(Double((skip ?? 0) + (limit ?? data.count)) / Double(total), 1)
    }

    /// Returns the same page with transformed records.
    public func map<Other>(_ transform: (Model) throws -> Other) rethrows -> Page<Other> {
        Page<Other>(data: try data.map(transform), total: total, limit: limit, skip: skip, extra: extra)
    }
}

extension Page: Equatable where Model: Equatable {}

extension Page: RandomAccessCollection {
    public var startIndex: Int { data.startIndex }
    public var endIndex: Int { data.endIndex }

    public subscript(position: Int) -> Model { data[position] }
}

extension Page where Model == JSONValue {
    /// Creates a page from a result of `find`: an array, or an object with `total`, `limit`, `skip` and `data`.
    /// - Throws: ``FeathersError/Code/generalError`` that names what it is instead, if it is neither.
    public init(json: JSONValue) throws { try self.init(json: json, of: .find) }

    init(json: JSONValue, of method: ServiceMethod) throws {
        if case .array(let records) = json {
            self.init(data: records)
            return
        }
        guard case .object(var page) = json, case .array(let records)? = page.removeValue(forKey: "data") else {
            throw FeathersError(
                .generalError,
                "'\(method)' returned \(Self.kind(of: json)), which is neither a list nor a page with 'data'")
        }
        func count(_ key: String) -> Int? {
            guard let count = page[key]?.integer.flatMap({ Int(exactly: $0) }) else { return nil }
            page.removeValue(forKey: key)
            return count
        }
        let (total, limit, skip) = (count("total"), count("limit"), count("skip"))
        self.init(data: records, total: total, limit: limit, skip: skip, extra: page)
    }

    /// Whether a result of `find` is a list or a page.
    package static func isPage(_ json: JSONValue) -> Bool { json.array != nil || json.object?["data"]?.array != nil }

    /// Returns the kind of a value. Its content may be secret.
    private static func kind(of json: JSONValue) -> String {
        switch json {
        case .null: return "null"
        case .bool: return "a Boolean"
        case .string: return "a string"
        case .array: return "a list"
        case .object(let object):
            if object.isEmpty { return "an empty object" }
            let names = object.prefix(5).map { "'\($0.key)'" }.joined(separator: ", ")
            return "an object with \(names)\(object.count > 5 ? " and others" : "")"
        default: return "a number"
        }
    }
}
