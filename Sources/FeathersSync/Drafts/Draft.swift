public import FeathersCore
import FeathersSupport

/// A copy of a record to edit, which is saved as a patch of the properties that have changed.
///
/// ```swift
/// var draft = try await messages.draft(7)
/// draft.text = "Hello"
/// try await draft.save()
/// ```
///
/// The properties of the model are those of the draft, unless the draft has a member with the same name; ``value`` is
/// the whole model. Use a ``DraftModel`` to edit a draft in a view.
///
/// Other changes of the record are merged into the draft by property, see ``update(to:)``. Properties that you did not
/// change are never sent, so a draft cannot overwrite them. A property that is missing counts as null.
///
/// A draft belongs to the user for whom it was made, and can't be saved after another user has signed in.
///
/// ## Topics
///
/// ### The record
/// - ``id``
/// - ``value``
/// - ``base``
///
/// ### Changes
/// - ``hasChanges``
/// - ``changedProperties``
/// - ``discardChanges()``
///
/// ### Saving
/// - ``save()``
/// - ``queue()``
///
/// ### Changes by others
/// - ``update(to:)``
/// - ``movedProperties``
/// - ``conflicts``
/// - ``DraftConflict``
/// - ``resolve(_:with:)``
@dynamicMemberLookup
public struct Draft<Model: Codable & Sendable>: Sendable, Identifiable {
    /// The id of the record.
    public var id: ServiceID { source.id }
    /// The edited copy.
    public var value: Model
    /// The record as the server last reported it.
    public private(set) var base: Model

    let source: DraftSource<Model>
    private var properties: DraftProperties
    /// The tag of the base; nil if the record must be read before it is saved.
    private var tag: String?
    /// In the order in which they were queued.
    private var queued: [QueuedChanges] = []

    init(_ source: DraftSource<Model>, _ model: Model, tag: String?) throws {
        (self.source, value, base, self.tag) = (source, model, model, tag)
        properties = DraftProperties(try source.encode(model))
    }

    /// A property of the edited copy.
    public subscript<Value>(dynamicMember property: WritableKeyPath<Model, Value>) -> Value {
        get { value[keyPath: property] }
        set { value[keyPath: property] = newValue }
    }

    /// A property of the edited copy that is read-only.
    public subscript<Value>(dynamicMember property: KeyPath<Model, Value>) -> Value { value[keyPath: property] }
}

// MARK: - Changes

extension Draft {
    /// The names, in JSON, of the properties whose values differ from the base.
    ///
    /// If the copy cannot be encoded, these are all properties, and ``save()`` throws the reason.
    public var changedProperties: [String] { (try? changedValues().keys) ?? properties.base.keys }

    /// Whether any property differs from the base.
    public var hasChanges: Bool { !changedProperties.isEmpty }

    /// The names of the properties that the server has changed and you have not. The copy has their new values.
    ///
    /// They are listed until the draft is saved or its changes are discarded.
    public var movedProperties: [String] { properties.moved.sorted() }

    /// The properties that both you and the server have changed, to different values.
    ///
    /// The copy keeps your values. While there are conflicts, the draft cannot be saved.
    public var conflicts: [DraftConflict] { (try? source.encode(value)).map(properties.conflicts) ?? [] }

    /// Takes back all changes: the copy is the base again.
    public mutating func discardChanges() {
        value = base
        if let base = try? source.encode(base) { properties = DraftProperties(base) }
    }

    /// Takes a newer record from the server, and merges it by property.
    ///
    /// A property that you did not change gets the new value, and is one of ``movedProperties``. A property that both
    /// have changed to the same value is no longer changed. If the values differ, it is one of ``conflicts``.
    /// - Parameter record: The record as the server has reported it.
    /// - Throws: ``FeathersError/Code/badRequest`` if a record cannot be encoded,
    ///   ``FeathersError/Code/generalError`` if the merged one cannot be decoded. The draft is then unchanged.
    public mutating func update(to record: Model) throws {
        var properties = properties
        let merged = try properties.update(source.encode(value), to: source.encode(record))
        // The record may have been created since, and have got another id.
        properties.moved.remove(source.service.idProperty)
        if let merged { value = try source.decode(merged) }
        // The tag belongs to the record that was read.
        if properties.base != self.properties.base { tag = nil }
        (self.properties, base) = (properties, record)
    }

    /// Ends a conflict.
    /// - Parameters:
    ///   - property: The name of the property. Without a conflict, nothing happens.
    ///   - side: The side whose value the property gets. To use another value, resolve with `.mine` and set it.
    /// - Throws: ``FeathersError/Code/generalError`` if the copy cannot be decoded with the server's value.
    public mutating func resolve(_ property: String, with side: DraftConflict.Side) throws {
        var properties = properties
        guard properties.resolve(property) else { return }
        if side == .theirs {
            var copy = try source.encode(value)
            copy[property] = properties.base[property]
            value = try source.decode(copy)
        }
        self.properties = properties
    }

    /// Whether a record is the base, as far as the model has its properties.
    func isBase(_ record: Model) -> Bool { (try? source.encode(record)) == properties.base }

    /// Returns the properties to send.
    private func changedValues() throws -> JSONObject { try properties.changes(in: source.encode(value)) }
}

// MARK: - Saving

extension Draft {
    /// Sends a patch with the changed properties, and takes the server's record as the new base. Without changes,
    /// nothing is sent.
    ///
    /// If the record came with an entity tag, the patch carries it as its condition (`If-Match`). If the server refuses
    /// the patch with 409 or 412, the record is read again and merged. If nothing conflicts, the patch is sent again,
    /// three times at most. Weak tags (`W/"…"`) cannot be conditions.
    ///
    /// Without such a tag, the record is read and merged first, so that a newer one is noticed. Between that read and
    /// the patch, another write can still come in, and a value that it gave to a changed property is overwritten. Other
    /// properties never are, because they are not sent.
    ///
    /// If this method throws, the copy keeps your changes.
    /// - Throws: ``FeathersError/Code/conflict``, with ``FeathersError/execution-swift.property`` `neverSent`, if
    ///   properties conflict, naming them, or if the record's creation or an earlier change of the draft is still in
    ///   the outbox;
    ///   ``FeathersError/Code/notAuthenticated`` if the draft's user is no longer signed in; and the errors of
    ///   ``Service/patch(_:with:query:params:)-(ServiceIDConvertibleSendable,EncodableSendable,_,_)``.
    public mutating func save() async throws {
        if queued.contains(where: { source.isQueued($0.id) }) {
            throw source.error(.conflict, "has changes in the outbox that are not sent yet: queue the others too")
        }
        try checkConflicts()
        guard try !changedValues().isEmpty else { return }
        if tag == nil { try await read() }
        for attempt in 1... {
            let changes = try changedValues()
            // Someone else has made the same changes.
            if changes.isEmpty { return }
            let (known, condition) = (properties.base, tag)
            do {
                return try await saved(source.patch(changes, of: properties.base, expecting: tag))
            } catch let error as FeathersError where error.saysRecordChanged {
                try await read(because: error)
                // If the record has not changed, the refusal has another reason, which stays.
                if attempt == 3 || properties.base == known && tag == condition { throw error }
            }
        }
    }

    /// Queues a patch with the changed properties in the app's outbox, connected or not. The copy becomes the base.
    ///
    /// The patch is sent after the earlier writes to the record, and the outbox handles its conflicts: see
    /// ``OutboxFailure``. It carries the condition of ``save()`` if there is one. Until it is sent, further changes of
    /// the draft can only be queued.
    /// - Returns: The queued write; nil if nothing has changed.
    /// - Throws: ``FeathersError/Code/conflict`` naming the properties that conflict;
    ///   ``FeathersError/Code/notAuthenticated`` if the draft's user is no longer signed in;
    ///   ``FeathersError/Code/badRequest`` if the params have a token or header fields, which an outbox does not store;
    ///   and the errors of ``OutboxCalls``. In each case, nothing is queued.
    @discardableResult
    public mutating func queue() async throws -> QueuedWrite<Model>? {
        try checkConflicts()
        let copy = try source.encode(value)
        let changes = properties.changes(in: copy)
        if changes.isEmpty { return nil }
        let write = try await source.queue(changes, madeOn: properties.base, tag)
        queued.removeAll { [source] in !source.isQueued($0.id) }
        var before = properties.before(changes)
        // Changes that wait together are one write.
        if let index = queued.firstIndex(where: { $0.id == write.id }) {
            for (name, value) in queued.remove(at: index).before { before[name] = value }
        }
        queued.append(QueuedChanges(id: write.id, before: before, outcome: write.outcomePromise))
        (base, tag) = (value, nil)
        properties = DraftProperties(copy)
        return write
    }

    /// Returns the writes that the server has refused, in order, with the reasons.
    func refusals() async -> [(write: OutboxWrite.ID, error: any Error)] {
        var refusals: [(write: OutboxWrite.ID, error: any Error)] = []
        for changes in queued {
            if let failure = source.failure(of: changes.id) {
                // Otherwise it may have been executed.
                if failure.reason != .unknown { refusals.append((changes.id, failure.error)) }
            } else if !source.isQueued(changes.id) {
                do { _ = try await changes.outcome.value() } catch { refusals.append((changes.id, error)) }
            }
        }
        return refusals
    }

    /// Makes changes that were queued and refused changes of the copy again.
    mutating func takeBack(_ write: OutboxWrite.ID) {
        guard let index = queued.firstIndex(where: { $0.id == write }) else { return }
        let before = queued.remove(at: index).before
        properties.takeBack(before)
        // Later changes were made on these.
        for later in queued.indices[index...] {
            for (name, value) in before where queued[later].before[name] != nil { queued[later].before[name] = value }
        }
        if let base = try? source.decode(properties.base) { self.base = base }
    }

    /// Reads the record from the server, and merges it.
    /// - Throws: An error that names the properties that conflict.
    private mutating func read(because refusal: FeathersError? = nil) async throws {
        let record = try await source.read()
        try update(to: record.model)
        tag = record.tag
        try checkConflicts(because: refusal)
    }

    private func checkConflicts(because refusal: FeathersError? = nil) throws {
        let names = try properties.conflicts(in: source.encode(value)).map { "'\($0.property)'" }
        guard !names.isEmpty else { return }
        throw source.error(
            .conflict, "conflicts with the server's record at \(names.joined(separator: ", ")): resolve that first",
            cause: refusal)
    }

    /// Takes the server's response to a patch.
    private mutating func saved(_ record: DraftSource<Model>.Record?) async throws {
        // The patch was executed, so a failure to read what it has made is not a failure to save.
        guard let record = if let record { record } else { try? await source.read() } else {
            (base, tag, queued) = (value, nil, [])
            properties = DraftProperties(try source.encode(value))
            return
        }
        self = try Draft(source, record.model, tag: record.tag)
    }

    /// Rebases this draft onto the saved record and keeps edits made during the save.
    /// - Parameters:
    ///   - copy: The copy afterward.
    ///   - begun: The edited copy at the beginning.
    func rebased(onto copy: Draft, since begun: Model) throws -> Draft {
        let (earlier, mine) = try (source.encode(begun), source.encode(value))
        if earlier == mine { return copy }
        var result = copy
        result.value = try source.decode(mine.rebased(from: earlier, onto: source.encode(copy.value)))
        return result
    }
}

/// Changes that were queued, and may be refused.
private struct QueuedChanges: Sendable {
    let id: OutboxWrite.ID
    /// The values that the properties had before.
    var before: JSONObject
    let outcome: Promise<JSONValue>
}

extension FeathersError {
    /// Whether the server refused a write because the record is not as expected.
    fileprivate var saysRecordChanged: Bool {
        execution == .answered && (code == .conflict || code == FeathersError.Code(412))
    }
}
