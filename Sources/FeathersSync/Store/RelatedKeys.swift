import FeathersCore

/// The keys whose records a relation needs: ids, or values of the property that refers to the other record.
struct RelatedKeys: Sendable, Equatable {
    /// The property of the related records that holds the key.
    let property: String
    /// The keys as JSON, by their text, so that `1` and `"1"` are the same key, as on the server.
    var values: [String: JSONValue] = [:]

    /// Returns the text of a value that is a key; nil for other values.
    static func text(_ value: JSONValue?) -> String? { value.flatMap { ServiceID($0) }?.description }

    /// Returns the text of a related record's key.
    func text(in record: JSONValue) -> String? { Self.text(record[property]) }

    func contain(_ record: JSONValue) -> Bool { text(in: record).map { values[$0] != nil } ?? false }

    /// Returns some of the keys; nil if there are none.
    func only(_ texts: Set<String>) -> RelatedKeys? {
        texts.isEmpty ? nil : RelatedKeys(property: property, values: values.filter { texts.contains($0.key) })
    }
}
