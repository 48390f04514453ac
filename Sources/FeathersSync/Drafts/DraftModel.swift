import FeathersCore
import FeathersSupport
public import Observation

/// A draft for SwiftUI views, which follows its record while it is edited.
///
/// ```swift
/// @Bindable var note: DraftModel<Note>
/// var body: some View {
///     Form {
///         TextField("Text", text: $note.value.text)
///         ForEach(note.conflicts, id: \.property) { ConflictRow(note, $0) }
///         Button("Save") { saves += 1 }.disabled(!note.hasChanges || note.isSaving)
///     }
///     .task { await note.run() }
///     .task(id: saves) { if saves > 0 { await note.save() } }
/// }
/// ```
/// For a sheet, use `.sheet(item: $note) { NoteView(note: $0) }`.
@MainActor @Observable
public final class DraftModel<Model: Codable & Sendable>: Identifiable {
    /// The draft as it is now.
    public private(set) var draft: Draft<Model>
    /// Whether the server reports that the record does not exist anymore, or no longer matches the draft's params.
    public private(set) var isRemoved = false
    /// Whether the draft is being saved or queued. It can be edited meanwhile.
    public private(set) var isSaving = false
    /// Why the record is not followed, or the draft was not saved, or what was queued was refused; nil after a
    /// cancellation.
    public private(set) var error: (any Error)?

    /// Settled when the save in progress has ended.
    @ObservationIgnored private var saving: Promise<Void>?
    /// How often a save has begun or ended.
    @ObservationIgnored private var saves = 0

    /// Creates a model of a draft. It does not follow the record until you call ``run()``.
    public init(_ draft: Draft<Model>) { self.draft = draft }

    /// The edited copy.
    public var value: Model {
        get { draft.value }
        set { draft.value = newValue }
    }

    /// Whether any property differs from the server's record.
    public var hasChanges: Bool { draft.hasChanges }
    /// The names of the properties that differ from the server's record.
    public var changedProperties: [String] { draft.changedProperties }
    /// The names of the properties that others have changed and the user has not.
    public var movedProperties: [String] { draft.movedProperties }
    /// The properties that both the user and others have changed.
    public var conflicts: [DraftConflict] { draft.conflicts }

    /// Takes back all changes.
    public func discardChanges() { draft.discardChanges() }

    /// Ends a conflict; the last one also ends the error that it has caused. If the copy cannot be decoded with the
    /// server's value, sets ``error``.
    /// - Parameters:
    ///   - property: The name of the property.
    ///   - side: The side whose value the property gets.
    public func resolve(_ property: String, with side: DraftConflict.Side) {
        do {
            try draft.resolve(property, with: side)
            if conflicts.isEmpty, FeathersError.Code.conflict ~= error ?? CancellationError() { error = nil }
        } catch {
            self.error = error
        }
    }
}

// MARK: - Following

extension DraftModel {
    /// Merges changes of the record into the draft until the task is cancelled. You can call it again afterward.
    ///
    /// The record is followed with a live query, which also shows queued writes. If its creation is queued, following
    /// begins when that was executed. If it fails, or if another user signs in, it ends and sets ``error``. A draft
    /// whose params have a token cannot be followed.
    public func run() async {
        error = nil
        do {
            while try await follow() {}
        } catch is CancellationError {
            // The view has disappeared.
        } catch {
            self.error = error
        }
    }

    /// Follows the record with one live query.
    /// - Returns: Whether another one must fetch the record again.
    private func follow() async throws -> Bool {
        let (query, id) = try await draft.source.live()
        var snapshots = LiveSnapshotReader(query.source)
        defer { snapshots.close() }
        var key = RelatedKeys.Change()
        key.added[id.key] = id.json
        snapshots.changeKeys(key)
        while true {
            let known = saves
            guard let snapshot = try await snapshots.next(isolation: #isolation) else { return false }
            // Another user's result says nothing about this draft's record.
            try draft.source.checkUser(snapshot.shownIdentity)
            try await saving?.value()
            let refusals = await draft.refusals()
            for (write, refusal) in refusals {
                draft.takeBack(write)
                error = refusal
            }
            // The snapshot may be older than the refusal, and show what was taken back.
            if !refusals.isEmpty { return true }
            let record = snapshot.records.first
            if saves != known {
                // Older or newer than what was saved: only a later fetch can tell.
                guard let record, draft.isBase(record) else { return true }
            } else if case .server = snapshot.source {
                isRemoved = record == nil
                if let record { try draft.update(to: record) }
            }
        }
    }
}

// MARK: - Saving

extension DraftModel {
    /// Saves the draft, see ``Draft/save()``. If that fails, sets ``error``. Does nothing while the draft is being
    /// saved.
    /// - Returns: Whether the draft was saved, so that its view can close.
    @discardableResult
    public func save() async -> Bool { await save { try await $0.save() } }

    /// Queues the changes in the app's outbox, see ``Draft/queue()``. If that fails, sets ``error``. Does nothing while
    /// the draft is being saved.
    ///
    /// If the server refuses the changes, ``run()`` makes them changes of the draft again, and sets ``error``.
    /// - Returns: Whether the changes are queued, so that the draft's view can close.
    @discardableResult
    public func queue() async -> Bool { await save { _ = try await $0.queue() } }

    private func save(_ save: (inout Draft<Model>) async throws -> Void) async -> Bool {
        guard !isSaving else { return false }
        let ended = Promise<Void>()
        (isSaving, error, saving, saves) = (true, nil, ended, saves + 1)
        defer {
            (isSaving, saving, saves) = (false, nil, saves + 1)
            ended.resolve(())
        }
        // A copy, because the user may edit the draft meanwhile.
        var copy = draft
        let begun = draft.value
        do {
            let result = await Result { try await save(&copy) }
            draft = try draft.rebased(onto: copy, since: begun)
            try result.get()
            return true
        } catch is CancellationError {
            return false
        } catch {
            self.error = error
            return false
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
