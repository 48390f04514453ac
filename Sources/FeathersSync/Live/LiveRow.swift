import FeathersCore
import Synchronization

/// One version of a record in a live result.
///
/// It is an object, so that copying a part of a long result costs one reference count for each row, whatever the record contains.
final class LiveRow: Sendable {
    let key: String
    let record: JSONValue
    /// Whether a pending write has made this version. Next to the record, because that leaves no gap: 16 bytes for each row.
    let isWritten: Bool
    /// Distinguishes two states of a record without comparing their contents.
    let version: Int
    /// Orders the rows of a result that is not sorted locally. Never decreases from row to row.
    let place: Int
    let state: RecordState
    /// The element that is shown, decoded once; nil until then, and if the record itself is shown.
    private let element = AtomicLazyReference<LiveElement>()

    init(key: String, record: JSONValue, version: Int, place: Int = 0, state: RecordState = .confirmed, isWritten: Bool = false) {
        (self.key, self.record, self.version, self.place) = (key, record, version, place)
        (self.state, self.isWritten) = (state, isWritten)
    }

    /// Returns the same version in another place.
    func moved(to place: Int) -> LiveRow {
        let moved = LiveRow(key: key, record: record, version: version, place: place, state: state, isWritten: isWritten)
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
