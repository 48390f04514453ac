import FeathersCore
import FeathersSupport
import Foundation
import Synchronization

/// A record's row in a result.
///
/// It is an object, so that copying a part of a long result costs one reference count for each row.
final class ResultRow: Sendable {
    /// The state of the record: the one that all lists share, or one that a write has made, or a hook or `$select`.
    let state: Record
    /// The element that is shown, decoded once; nil until then, and if the record itself is shown.
    private let element: Mutex<(any AnyObject & Sendable)?>
    /// Distinguishes two states of a record without comparing their contents.
    let version: Int
    /// The first value by which the rows are sorted, so that it is not looked up in each step of a search.
    let sortValue: JSONValue?
    /// Orders the rows of a result that is not sorted locally. Never decreases from row to row.
    let place: Int
    let writeState: RecordState
    /// Whether a write has made this version, so that it may lack what only the server adds.
    let isWritten: Bool
    /// The queued write that made this version last; nil if the server did.
    let write: UUID?
    /// Whether the server does not know the record yet, so that it has no id of its own.
    let isProvisional: Bool

    private static let lastVersion = Atomic(0)

    /// Creates a row with a new version.
    convenience init(
        _ state: Record, sortValue: JSONValue? = nil, place: Int = 0, writeState: RecordState = .confirmed,
        isWritten: Bool = false, write: UUID? = nil, isProvisional: Bool = false
    ) {
        let version = Self.lastVersion.add(1, ordering: .relaxed).newValue
        self.init(state, nil, version, sortValue, place, writeState, isWritten, write, isProvisional)
    }

    private init(
        _ state: Record, _ element: (any AnyObject & Sendable)?, _ version: Int, _ sortValue: JSONValue?,
        _ place: Int, _ writeState: RecordState, _ isWritten: Bool, _ write: UUID?, _ isProvisional: Bool
    ) {
        (self.state, self.version, self.sortValue, self.place) = (state, version, sortValue, place)
        (self.writeState, self.isWritten, self.write, self.isProvisional) = (
            writeState, isWritten, write, isProvisional
        )
        self.element = Mutex(element)
    }

    var key: String { state.key }
    var record: JSONValue { state.data ?? .null }

    /// Returns the same version in another place.
    func moved(to place: Int) -> ResultRow { copy(state, place) }

    /// Returns the same version with an equal state.
    func inState(_ state: Record) -> ResultRow { copy(state, place) }

    private func copy(_ state: Record, _ place: Int) -> ResultRow {
        ResultRow(
            state, element.withLock(\.self), version, sortValue, place, writeState, isWritten, write, isProvisional)
    }

    var isDecoded: Bool { element.withLock { $0 != nil } }

    func decoded<Element: Sendable>(as value: Element) {
        let decoded = DecodedElement(value)
        element.withLock { $0 = $0 ?? decoded }
    }

    /// Returns the element; the record if nothing was decoded, which is the case only for queries whose elements are
    /// records.
    func element<Element: Sendable>(as type: Element.Type) -> Element? {
        guard let element = element.withLock(\.self) else { return record as? Element }
        return (element as? DecodedElement<Element>)?.value
    }
}

/// A decoded record, in a form that a row of any type of elements can hold.
final class DecodedElement<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
