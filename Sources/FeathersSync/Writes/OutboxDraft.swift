import FeathersCore
import FeathersSupport
import Foundation

extension Outbox {
    /// A write without a position in the queue.
    struct Draft: Sendable {
        let id = UUID.new
        let date = Date.current
        var method: ServiceMethod
        var recordID: ServiceID?
        var data: JSONValue?
        var query = Query<JSONValue>()
        var route: [String: String] = [:]
        /// The record that determines the order of the write, if it is not the one of `recordID`.
        var orderingKey: ServiceID?

        /// The name of the records' id property, if the service's definition has another one than `id`.
        var idProperty: String?
        /// The record on which the write is made; nil for the one that the app has read last.
        var base: Base?
        /// The lane of an earlier write to the same record, if that record's id was provisional.
        var knownLane: String?

        /// A record, and its tag if a write can expect it.
        struct Base: Sendable {
            let record: JSONValue
            let tag: String?
        }

        /// The ids of the records that the write creates, until the server has assigned others.
        var provisionalKeys: [String] { OutboxWrite.provisionalKeys(of: id, method, data) }

        /// Returns the lane of the record, regardless of whether its id is a number or a string. A write without a
        /// record gets its own lane.
        func lane(at path: String) -> String {
            if let knownLane { return knownLane }
            guard let record = orderingKey ?? recordID else { return "#\(id.text)" }
            return RecordKey.text(record, path, route)
        }

        /// Adds the ids that the app chooses, and the key of what is created.
        mutating func complete(_ service: OutboxServiceOptions) {
            guard method == .create else { return }
            // Later writes to the record follow, by its provisional id.
            orderingKey = .string(id.text)
            guard let property = service.recordIDProperty else { return }
            if data?.object != nil {
                if data?[property] == nil { data?[property] = .string(id.text) }
                orderingKey = data?[property].flatMap { ServiceID($0) }
            } else if let elements = data?.array {
                data = .array(
                    elements.map {
                        $0.object == nil || $0[property] != nil ? $0 : $0.setting(property, to: .string(UUID.new.text))
                    })
            }
        }
    }
}

extension Outbox.State {
    /// Returns a draft with the ids that the server has assigned, and with the lane of its record.
    /// - Parameter records: The records that the earlier writes of its group create.
    /// - Throws: ``FeathersError/Code/gone`` or ``FeathersError/Code/badRequest`` if it refers to a record that does not
    ///   exist, or whose id is not known.
    func resolved(
        _ draft: Outbox.Draft, at path: String, as identity: Identity?, _ records: Names? = nil
    ) throws(FeathersError) -> Outbox.Draft {
        var draft = draft
        var missing: [Names.Missing] = []
        draft.route = names.translated(draft.route, &missing)
        if draft.method != .create, let record = draft.recordID { draft.recordID = names.translated(record, &missing) }
        if draft.method != .create, let record = draft.recordID,
            let known = records?[record, path, draft.route] ?? known(record, at: path, draft.route)
        {
            draft.recordID = known.id
            // Another user's writes to the record may already have a lane by its assigned id.
            if known.identity == nil || known.identity == identity { draft.knownLane = known.lane }
        }
        draft.data = draft.data.map { names.translated($0, in: "data", &missing) }
        if let query = names.translated(.object(draft.query.json), in: "query", &missing).object {
            draft.query.json = query
        }
        if let error = FeathersError(missing, in: "The write") { throw error }
        return draft
    }

    /// Returns the write of a resolved draft, made on what is known of its record.
    /// - Parameter previous: The write before it in its group.
    mutating func write(
        _ draft: Outbox.Draft, at path: String, as identity: Identity?, after previous: UUID? = nil
    ) -> OutboxWrite {
        let lane = draft.lane(at: path)
        let (base, tag) =
            draft.recordID.map { self.base(of: $0, draft.route, lane, path, identity, draft.base) }
            ?? (nil, nil)
        return OutboxWrite(
            id: draft.id, key: draft.id, path: path, method: draft.method, recordID: draft.recordID, data: draft.data,
            query: draft.query, route: draft.route, date: draft.date, identity: identity, base: base, entityTag: tag,
            lane: lane, idProperty: draft.idProperty, previous: previous)
    }
}
