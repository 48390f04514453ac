import FeathersCore

/// What the records of keys lack.
struct MissingRecords: Sendable, Equatable {
    /// The keys whose records have not been fetched.
    var unfetched: Set<String> = []
    /// The keys whose records were not all read, because of a limit, or cannot be decoded.
    var leftOut: Set<String> = []
    /// Why they cannot be fetched at present.
    var failure: FeathersError?

    static func == (left: MissingRecords, right: MissingRecords) -> Bool {
        left.unfetched == right.unfetched && left.leftOut == right.leftOut
            && left.failure?.code == right.failure?.code && left.failure?.message == right.failure?.message
    }
}

/// The keys whose records a relation needs: ids, or values of the property that refers to the other record.
struct RelatedKeys: Sendable, Equatable {
    /// The property of the related records that holds the key.
    let property: String
    /// The keys as JSON, by their text, so that `1` and `"1"` are the same key, as on the server.
    var values: [String: JSONValue] = [:]
    /// The keys that the server does not know.
    var unsent: Set<String> = []

    /// Returns the text of a value that is a key; nil for other values.
    static func text(_ value: JSONValue?) -> String? { value.flatMap { ServiceID($0) }?.key }

    /// Returns the text of a related record's key.
    func text(in record: JSONValue) -> String? { Self.text(record[property]) }

    /// Returns the texts of the forms in which screens show a provisional id.
    static func provisionalTexts(of key: String) -> [String] {
        JSONValue.provisionalForms(of: key).compactMap { text($0) }
    }

    func contain(_ record: JSONValue) -> Bool {
        guard let text = text(in: record) else { return false }
        if values[text] != nil { return true }
        // The key may be the number of a record that has its provisional id as text.
        guard !unsent.isEmpty, record[property]?.string != nil else { return false }
        return Self.provisionalTexts(of: text).contains { values[$0] != nil }
    }

    /// The keys that the server knows.
    var sent: RelatedKeys { only(Set(values.keys).subtracting(unsent)) }

    /// Returns some of the keys.
    func only(_ texts: Set<String>) -> RelatedKeys {
        RelatedKeys(property: property, values: values.filter { texts.contains($0.key) })
    }

    struct Change: Sendable {
        /// The new keys as JSON, by their text.
        var added: [String: JSONValue] = [:]
        /// Those of them that the server does not know, because the record that has them is still queued.
        var unsent: Set<String> = []
        /// The keys that are no longer wanted, with the keys of their rows.
        var removed: [String: [String]] = [:]

        init() {}

        init(adding keys: RelatedKeys) { (added, unsent) = (keys.values, keys.unsent) }

        var isEmpty: Bool { added.isEmpty && removed.isEmpty }
    }

    mutating func apply(_ change: Change) {
        for key in change.removed.keys { values[key] = nil }
        unsent.subtract(change.removed.keys)
        values.merge(change.added) { $1 }
        unsent.formUnion(change.unsent)
    }
}
