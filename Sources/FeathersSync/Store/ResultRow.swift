import FeathersCore
import FeathersSupport
import Foundation
import Synchronization

/// One version of a record in a result.
///
/// It is an object, so that copying a part of a long result costs one reference count for each row, whatever the record
/// contains.
final class ResultRow: Sendable {
    private struct Content: Sendable {
        var record: JSONValue
        /// The element that is shown, decoded once; nil until then, and if the record itself is shown.
        var element: (any AnyObject & Sendable)?
    }

    let key: String
    private let content: Mutex<Content>
    /// Distinguishes two states of a record without comparing their contents.
    let version: Int
    /// The first value by which the rows are sorted, so that it is not looked up in each step of a search.
    let sortValue: JSONValue?
    /// Orders the rows of a result that is not sorted locally. Never decreases from row to row.
    let place: Int
    let state: RecordState
    /// Whether a write has made this version, so that it may lack what only the server adds.
    let isWritten: Bool
    /// The queued write that made this version last; nil if the server did.
    let write: UUID?
    /// Whether the server does not know the record yet, so that it has no id of its own.
    let isProvisional: Bool

    private static let lastVersion = Atomic(0)

    /// Creates a row with a new version.
    convenience init(
        key: String, record: JSONValue, sortValue: JSONValue? = nil, place: Int = 0, state: RecordState = .confirmed,
        isWritten: Bool = false, write: UUID? = nil, isProvisional: Bool = false
    ) {
        let version = Self.lastVersion.add(1, ordering: .relaxed).newValue
        self.init(key, Content(record: record), version, sortValue, place, state, isWritten, write, isProvisional)
    }

    private init(
        _ key: String, _ content: Content, _ version: Int, _ sortValue: JSONValue?, _ place: Int, _ state: RecordState,
        _ isWritten: Bool, _ write: UUID?, _ isProvisional: Bool
    ) {
        (self.key, self.version, self.sortValue, self.place) = (key, version, sortValue, place)
        (self.state, self.isWritten, self.write, self.isProvisional) = (state, isWritten, write, isProvisional)
        self.content = Mutex(content)
    }

    var record: JSONValue { content.withLock { $0.record } }

    /// Returns the same version in another place.
    func moved(to place: Int) -> ResultRow {
        ResultRow(
            key, content.withLock { $0 }, version, sortValue, place, state, isWritten, write, isProvisional)
    }

    var isDecoded: Bool { content.withLock { $0.element != nil } }

    func decoded<Element: Sendable>(as value: Element) {
        let element = DecodedElement(value)
        content.withLock { $0.element = $0.element ?? element }
    }

    /// Returns the element; the record if nothing was decoded, which is the case only for queries whose elements are
    /// records.
    func element<Element: Sendable>(as type: Element.Type) -> Element? {
        guard let element = content.withLock({ $0.element }) else { return record as? Element }
        return (element as? DecodedElement<Element>)?.value
    }
}

/// A decoded record, in a form that a row of any type of elements can hold.
final class DecodedElement<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
