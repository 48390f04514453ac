import FeathersCore
import Synchronization

/// One version of a record in a live result.
///
/// It is an object, so that copying a part of a long result costs one reference count for each row, whatever the record contains.
final class LiveRow: Sendable {
    private enum Content: Sendable {
        case tree(JSONValue)
        case packed(PackedObject)
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
    /// The element that is shown, decoded once; nil until then, and if the record itself is shown.
    private let element = AtomicLazyReference<LiveElement>()

    convenience init(
        key: String, record: JSONValue, version: Int, sortValue: JSONValue? = nil, place: Int = 0, state: RecordState = .confirmed,
        isWritten: Bool = false
    ) {
        self.init(key, .tree(record), version, sortValue, place, state, isWritten)
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
        switch content.withLock({ $0 }) {
        case .tree(let record): record
        case .packed(let object): .object(object.object)
        }
    }

    /// A property of the record.
    subscript(property: String) -> JSONValue? {
        switch content.withLock({ $0 }) {
        case .tree(let record): record[property]
        case .packed(let object): object[property]
        }
    }

    /// Reduces the memory that the record takes.
    func pack() {
        guard case .tree(.object(let object)) = content.withLock({ $0 }), let packed = PackedObject(object) else { return }
        content.withLock { $0 = .packed(packed) }
    }

    /// Returns the same version in another place.
    func moved(to place: Int) -> LiveRow {
        let moved = LiveRow(key, content.withLock { $0 }, version, sortValue, place, state, isWritten)
        if let element = element.load() { _ = moved.element.storeIfNil(element) }
        return moved
    }

    var isDecoded: Bool { element.load() != nil }

    func decoded<Element: Sendable>(as value: Element) { _ = element.storeIfNil(DecodedElement(value)) }

    /// Returns the element; the record if nothing was decoded, which is the case only for queries whose elements are records.
    func element<Element: Sendable>(as type: Element.Type) -> Element? {
        guard let element = element.load() else { return record as? Element }
        return (element as? DecodedElement<Element>)?.value
    }
}

// Unchecked only because a class with a subclass cannot be checked: it has no properties, and its only subclass holds a constant that is `Sendable`.
private class LiveElement: @unchecked Sendable {}

private final class DecodedElement<Value: Sendable>: LiveElement, @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
