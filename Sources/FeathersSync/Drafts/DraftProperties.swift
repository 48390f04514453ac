public import FeathersCore

/// The merge of a draft: the properties of its record as the server last reported them, and those about which the user
/// and the server disagree.
///
/// The edited copy is passed in as JSON, because its owner is a model. A property that is missing counts as null, since
/// a patch can only set it to null.
struct DraftProperties: Sendable {
    /// The record as the server last reported it.
    private(set) var base: JSONObject
    /// The values that properties had before both sides changed them, for those that are not resolved.
    private var origins = JSONObject()
    /// The properties that the server has changed and the user has not.
    var moved: Set<String> = []

    init(_ base: JSONObject) { self.base = base }

    /// Returns the properties of an edited copy that differ from the base, with null for those that it lacks.
    func changes(in mine: JSONObject) -> JSONObject {
        var changes = JSONObject()
        for name in mine.names(with: base).sorted() where mine.value(of: name) != base.value(of: name) {
            changes[name] = mine.value(of: name)
        }
        return changes
    }

    /// Returns the properties of an edited copy that both sides have changed to different values.
    func conflicts(in mine: JSONObject) -> [DraftConflict] {
        origins.keys.sorted().compactMap { name in
            guard mine.value(of: name) != base.value(of: name) else { return nil }
            return DraftConflict(
                property: name, base: origins.shown(name), mine: mine.shown(name), theirs: base.shown(name))
        }
    }

    /// Takes a newer record of the server.
    /// - Returns: The edited copy with the new values of the properties that the user has not changed; nil if it stays
    ///   as it is.
    mutating func update(_ mine: JSONObject, to theirs: JSONObject) -> JSONObject? {
        var (merged, hasMoved) = (mine, false)
        for name in mine.names(with: base).union(theirs.keys) {
            let (own, new) = (mine.value(of: name), theirs.value(of: name))
            let origin = origins[name] ?? base.value(of: name)
            // An edit that the user has taken back is none.
            if own == origin, own != new {
                merged[name] = theirs[name]
                moved.insert(name)
                hasMoved = true
            }
            // They agree if one side has changed nothing, or both have changed the same.
            origins[name] = own == origin || own == new || new == origin ? .none : origin
        }
        base = theirs
        return hasMoved ? merged : nil
    }

    /// Returns the values of the base for the properties of some changes, with null for those that it lacks.
    func before(_ changes: JSONObject) -> JSONObject {
        JSONObject(changes.keys.map { ($0, base.value(of: $0)) })
    }

    /// Gives properties of the base the values that they had before changes that were refused.
    mutating func takeBack(_ before: JSONObject) {
        for (name, value) in before { base[name] = value }
    }

    /// Ends the conflict of a property: from now on, the server's value is what the user has seen.
    /// - Returns: Whether the property was in conflict.
    mutating func resolve(_ name: String) -> Bool { origins.removeValue(forKey: name) != nil }
}

/// A property of a draft that the user and the server have changed to different values.
public struct DraftConflict: Sendable, Hashable {
    /// The side whose value a property gets.
    public enum Side: Sendable, Hashable, CaseIterable {
        /// The user's value.
        case mine
        /// The server's value.
        case theirs
    }

    /// The name of the property in the JSON of the record.
    public let property: String
    /// The value before both changes; nil if there was none.
    public let base: JSONValue?
    /// The user's value; nil if the user has removed it.
    public let mine: JSONValue?
    /// The server's value; nil if the server has removed it.
    public let theirs: JSONValue?
}

extension JSONObject {
    /// Returns the value of a property; null if it is missing.
    fileprivate func value(of name: String) -> JSONValue { self[name] ?? .null }

    fileprivate func shown(_ name: String) -> JSONValue? {
        let value = self[name]
        return value?.isNull == true ? .none : value
    }

    /// Returns the names of both objects' properties.
    fileprivate func names(with other: JSONObject) -> Set<String> { Set(keys).union(other.keys) }

    /// Returns this copy, edited since `earlier`, with the values of `other` where it was not edited.
    func rebased(from earlier: JSONObject, onto other: JSONObject) -> JSONObject {
        var result = other
        for name in names(with: earlier) where value(of: name) != earlier.value(of: name) { result[name] = self[name] }
        return result
    }
}
