import FeathersCore
import Synchronization

/// A record of a live result in one of the forms in which it is held.
enum LiveRecord: Sendable {
    case tree(JSONValue)
    /// As it was kept on disk. 1,000 kept records are shown after 3.5 ms; building their trees first, after 4.4.
    case text(JSONElement)
    case packed(PackedObject)

    /// The record as a tree, which is built on each access if the record is in another form.
    var json: JSONValue {
        switch self {
        case .tree(let json): json
        case .text(let element): element.parsed()
        case .packed(let object): .object(object.object)
        }
    }

    subscript(property: String) -> JSONValue? {
        switch self {
        case .tree(let json): json[property]
        case .text(let element): element[property]
        case .packed(let object): object[property]
        }
    }
}

/// One version of a record in a live result.
///
/// It is an object, so that copying a part of a long result costs one reference count for each row, whatever the record contains.
final class LiveRow: Sendable {
    private struct Content: Sendable {
        var record: LiveRecord
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
        key: String, record: LiveRecord, element: (any AnyObject & Sendable)? = nil, sortValue: JSONValue? = nil, place: Int = 0,
        state: RecordState = .confirmed, isWritten: Bool = false
    ) {
        let version = Self.lastVersion.add(1, ordering: .relaxed).newValue
        self.init(key, Content(record: record, element: element), version, sortValue, place, state, isWritten)
    }

    private init(
        _ key: String, _ content: Content, _ version: Int, _ sortValue: JSONValue?, _ place: Int, _ state: RecordState, _ isWritten: Bool
    ) {
        (self.key, self.version, self.sortValue, self.place) = (key, version, sortValue, place)
        (self.state, self.isWritten) = (state, isWritten)
        self.content = Mutex(content)
    }

    /// The record. Reading it takes longer if it is not a tree.
    var record: JSONValue {
        let record = content.withLock { $0.record }
        let json = record.json
        // A record that was compared or merged is likely to be read again.
        if case .text = record { content.withLock { if case .text = $0.record { $0.record = .tree(json) } } }
        return json
    }

    /// A property of the record.
    subscript(property: String) -> JSONValue? { content.withLock { $0.record }[property] }

    /// The number of rows above which they are packed. For fewer, it would save less than 10 MB.
    static let packingThreshold = 20_000

    /// Reduces the memory that the record takes.
    func pack() {
        let record = content.withLock { $0.record }
        if case .packed = record { return }
        guard case .object(let object) = record.json, let packed = PackedObject(object) else { return }
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

/// A decoded record, in a form that a row of any type of elements can hold.
final class DecodedElement<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
