import FeathersCore
import Synchronization

/// One version of a record in a live result.
///
/// It is an object, so that copying a part of a long result costs one reference count for each row, whatever the record
/// contains.
final class LiveRow: Sendable {
    private struct Content: Sendable {
        var record: JSONValue
        /// The element that is shown, decoded once; nil until then, and if the record itself is shown.
        var element: (any AnyObject & Sendable)?
    }

    let key: String
    /// Whether a pending write has made this version.
    let isWritten: Bool
    private let content: Mutex<Content>
    /// Distinguishes two states of a record without comparing their contents.
    let version: Int
    /// The first value by which the rows are sorted, so that it is not looked up in each step of a search.
    let sortValue: JSONValue?
    /// Orders the rows of a result that is not sorted locally. Never decreases from row to row.
    let place: Int
    let state: RecordState

    private static let lastVersion = Atomic(0)

    /// Creates a row with a new version.
    convenience init(
        key: String, record: JSONValue, element: (any AnyObject & Sendable)? = nil, sortValue: JSONValue? = nil,
        place: Int = 0,
        state: RecordState = .confirmed, isWritten: Bool = false
    ) {
        let version = Self.lastVersion.add(1, ordering: .relaxed).newValue
        self.init(key, Content(record: record, element: element), version, sortValue, place, state, isWritten)
    }

    private init(
        _ key: String, _ content: Content, _ version: Int, _ sortValue: JSONValue?, _ place: Int, _ state: RecordState,
        _ isWritten: Bool
    ) {
        (self.key, self.version, self.sortValue, self.place) = (key, version, sortValue, place)
        (self.state, self.isWritten) = (state, isWritten)
        self.content = Mutex(content)
    }

    var record: JSONValue { content.withLock { $0.record } }

    /// Returns the same version in another place.
    func moved(to place: Int) -> LiveRow {
        LiveRow(key, content.withLock { $0 }, version, sortValue, place, state, isWritten)
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
