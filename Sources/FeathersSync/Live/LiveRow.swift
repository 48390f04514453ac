import FeathersCore
import Synchronization

/// One version of a record in a live result.
///
/// It is an object, so that copying a part of a long result costs one reference count for each row, whatever the record contains.
final class LiveRow: Sendable {
    private enum Record: Sendable {
        case tree(JSONValue)
        case packed(PackedObject)
    }

    private struct Content: Sendable {
        var record: Record
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

    convenience init(
        key: String, record: JSONValue, version: Int, sortValue: JSONValue? = nil, place: Int = 0, state: RecordState = .confirmed,
        isWritten: Bool = false
    ) {
        self.init(key, Content(record: .tree(record)), version, sortValue, place, state, isWritten)
    }

    private init(
        _ key: String, _ content: Content, _ version: Int, _ sortValue: JSONValue?, _ place: Int, _ state: RecordState, _ isWritten: Bool
    ) {
        (self.key, self.version, self.sortValue, self.place) = (key, version, sortValue, place)
        (self.state, self.isWritten) = (state, isWritten)
        self.content = Mutex(content)
    }

    /// The record. Reading it takes longer once it is packed.
    var record: JSONValue {
        switch content.withLock({ $0.record }) {
        case .tree(let record): record
        case .packed(let object): .object(object.object)
        }
    }

    /// A property of the record.
    subscript(property: String) -> JSONValue? {
        switch content.withLock({ $0.record }) {
        case .tree(let record): record[property]
        case .packed(let object): object[property]
        }
    }

    /// Reduces the memory that the record takes.
    func pack() {
        guard case .tree(.object(let object)) = content.withLock({ $0.record }), let packed = PackedObject(object) else { return }
        content.withLock { $0.record = .packed(packed) }
    }

    /// Returns the same version in another place.
    func moved(to place: Int) -> LiveRow { LiveRow(key, content.withLock { $0 }, version, sortValue, place, state, isWritten) }

    var isDecoded: Bool { content.withLock { $0.element != nil } }

    func decoded<Element: Sendable>(as value: Element) {
        let element = DecodedElement(value)
        content.withLock { $0.element = $0.element ?? element }
    }

    /// Returns the element; the record if nothing was decoded, which is the case only for queries whose elements are records.
    func element<Element: Sendable>(as type: Element.Type) -> Element? {
        guard let element = content.withLock({ $0.element }) else { return record as? Element }
        return (element as? DecodedElement<Element>)?.value
    }
}

private final class DecodedElement<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
