import FeathersCore

/// One state of a record, as the server reported it: that of all lists, of the base of a write and of a draft.
///
/// It is an object, so that lists refer to it instead of keeping copies.
final class Record: Sendable {
    let key: String
    /// The record, or what it was before its removal, if the server says so.
    let data: JSONValue?
    let isRemoved: Bool
    /// The position of the state in the order in which this process took states from the server; 0 if it is from disk,
    /// or of one query alone.
    let number: Int

    init(_ key: String, _ data: JSONValue?, isRemoved: Bool = false, number: Int = 0) {
        (self.key, self.data, self.isRemoved, self.number) = (key, data, isRemoved, number)
    }

    convenience init(_ report: Report, number: Int = 0) {
        self.init(report.key, report.data, isRemoved: report.record == nil, number: number)
    }

    /// The record; nil if it was removed.
    var value: JSONValue? { isRemoved ? .none : data }
}

/// What the server has reported of a record, in an event, a response or a page.
struct Report: Sendable, Equatable {
    let name: EventName
    let key: String
    /// The record, or what it was before its removal, if the server says so.
    let data: JSONValue?

    init(_ event: ServiceEvent, key: String) { self.init(name: event.name, key: key, data: event.data) }

    init(name: EventName, key: String, data: JSONValue?) { (self.name, self.key, self.data) = (name, key, data) }

    /// The record; nil if it was removed.
    var record: JSONValue? { name == .removed ? .none : data }

    static func == (left: Report, right: Report) -> Bool {
        left.name == right.name && left.key == right.key && left.record == right.record
    }
}
