import FeathersCore
import FeathersJSON

/// A value of the property that orders the changes of a replica's records: a date, a whole number, or text that only
/// grows.
struct ReplicaVersion: Sendable, Equatable {
    /// The value as the server writes it.
    let value: JSONValue
    /// The date in milliseconds since 1970, if it is text.
    private let moment: Double?
    /// Whether records with exactly this version are left out.
    private var isExcluded = false

    /// - Returns: Nil if the value has no order: null, a fraction, or a structure.
    init?(_ value: JSONValue?) {
        switch value {
        case .integer(let value): (self.value, moment) = (.integer(value), nil)
        case .string(let text):
            self.value = .string(text)
            if text.startsWithDate, case .moment(let date) = QueryDate(.string(text)) {
                moment = date
            } else {
                moment = nil
            }
        default: return nil
        }
    }

    /// Whether another version is later.
    static func < (left: ReplicaVersion, right: ReplicaVersion) -> Bool {
        guard let order = left.value.versionOrder(to: right.value) else { return false }
        return order == 0 ? !left.isExcluded && right.isExcluded : order < 0
    }

    /// The version at which a page begins that must have the records of this one: earlier if the server may have
    /// rounded it.
    var included: ReplicaVersion { moment == nil ? self : moved(by: -1) }

    /// The version behind all records of a tie that begins with this one.
    var behindTie: ReplicaVersion {
        guard moment == nil else { return moved(by: 2) }
        var version = self
        version.isExcluded = true
        return version
    }

    /// The conditions for the records from this version on.
    func conditions(on property: String) -> JSONObject { [property: [isExcluded ? "$gt" : "$gte": value]] }

    /// The conditions for the records that share this version.
    func tieConditions(on property: String) -> JSONObject {
        moment == nil ? [property: value] : [property: ["$gte": value, "$lt": moved(by: 2).value]]
    }

    /// Returns the version some time earlier; the same one if it is not a date.
    func earlier(by duration: Duration) -> ReplicaVersion {
        let distance = (duration / .milliseconds(1)).rounded(.up)
        if moment != nil { return moved(by: -distance) }
        // A number of this size is a date in milliseconds, or in seconds.
        guard case .integer(let number) = value, case .moment(let date) = QueryDate(value), date > 3e11 else {
            return self
        }
        let isInSeconds = Double(number) < date
        return ReplicaVersion(.integer(number - Int64(isInSeconds ? (distance / 1000).rounded(.up) : distance))) ?? self
    }

    /// Returns a date moved by milliseconds, in the form of this one.
    private func moved(by distance: Double) -> ReplicaVersion {
        guard let moment, case .string(let old) = value,
            let iso = ISO8601Timestamp(milliseconds: (moment + distance).rounded(.down)).text()
        else { return self }
        var text = iso
        if old.utf8.dropFirst(10).first == UInt8(ascii: " ") {
            text = String(iso.replacing("T", with: " ").dropLast())
        }
        return ReplicaVersion(.string(text)) ?? self
    }
}
