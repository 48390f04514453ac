import FeathersCore
import FeathersSupport
import Foundation

/// What a kept result belongs to: a user, a service and a query.
struct KeptResultKey: Sendable, Hashable {
    let identity: Identity?
    let path: String
    /// Everything else that the result depends on.
    let text: String

    /// The name of the file. It reveals neither the user nor the query.
    var fileName: String { "\(identity.map(Self.prefix) ?? "none-")\(Self.digest("\(path)\n\(text)").prefix(40))" }

    static func prefix(of identity: Identity) -> String { "\(digest(identity.name).prefix(24))-" }

    private static func digest(_ text: String) -> String { SHA256.hex(Array(text.utf8)) }
}

/// The last result of a live query as the server reported it, without queued writes.
struct KeptResult: Sendable {
    let page: Paginated<JSONValue>
    /// Whether no record follows the last one.
    let isComplete: Bool
    /// When the server's data was last up to date.
    let date: Date
    /// The writes that were queued or unsettled then. The result may lack those that were executed before the date.
    let unsettled: Set<UUID>

    /// Takes the result of a live query; nil if it was not fetched for the key's user, or if that user has left.
    init?(_ feed: LiveFeed, for key: KeptResultKey) {
        // Taken first, so that no write that is executed meanwhile counts as included.
        date = .current
        let base = feed.withState { state -> (rows: LiveRows, page: Paginated<JSONValue>, isComplete: Bool, unsettled: Set<UUID>)? in
            guard state.isCurrent, state.sender?.identity == key.identity, state.view.isKnown, state.view.source == .server else {
                return nil
            }
            let base = state.view.base
            let limit = base.limit == .max ? nil : base.limit
            let page = Paginated<JSONValue>(data: [], total: base.total, limit: limit, skip: base.plan.skip)
            return (base.entries, page, base.isComplete, Set(state.view.writes.map(\.write.id)))
        }
        guard let (rows, head, isComplete, unsettled) = base else { return nil }
        var page = head
        // Outside the lock, because a long result takes a while.
        page.data = rows.map(\.record)
        (self.page, self.isComplete, self.unsettled) = (page, isComplete, unsettled)
    }
}

// MARK: - The file

extension KeptResult {
    /// Why a file cannot be used.
    enum Failure: Error, CustomStringConvertible {
        case damaged
        case otherVersion
        case otherQuery
        case tooLarge

        var description: String {
            switch self {
            case .damaged: "it is damaged"
            case .otherVersion: "it was written by another version"
            case .otherQuery: "it belongs to another query"
            case .tooLarge: "it is larger than \(KeptResult.maximumLength) bytes"
            }
        }
    }

    private static let magic = Array("FKEPT1".utf8)
    private static let headerLength = 10
    /// The length of a file above which a result is not kept.
    static let maximumLength = 32 * 1024 * 1024

    /// Returns the contents of the file: a marker, a checksum, and JSON.
    /// - Throws: ``Failure/tooLarge``, as soon as that is certain.
    func bytes(of key: KeptResultKey) throws -> [UInt8] {
        var json: JSONObject = [
            "path": .string(key.path), "text": .string(key.text), "date": .number(date.timeIntervalSinceReferenceDate),
            "isComplete": .bool(isComplete),
        ]
        if !unsettled.isEmpty { json["unsettled"] = .array(unsettled.map { .string($0.uuidString) }) }
        if let identity = key.identity { json["identity"] = .string(identity.name) }
        if let total = page.total { json["total"] = .integer(Int64(total)) }
        if let limit = page.limit { json["limit"] = .integer(Int64(limit)) }
        var payload = try JSONValue.object(json).serialized().dropLast() + Array(#","data":["#.utf8)
        for (index, record) in page.data.enumerated() {
            if index > 0 { payload.append(UInt8(ascii: ",")) }
            payload += try record.serialized()
            guard payload.count < Self.maximumLength else { throw Failure.tooLarge }
        }
        payload += Array("]}".utf8)
        let checksum = CRC32.checksum(of: payload)
        return Self.magic + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: checksum >> $0) } + payload
    }

    init(_ bytes: [UInt8], of key: KeptResultKey) throws {
        guard bytes.count >= Self.headerLength else { throw Failure.damaged }
        guard bytes.starts(with: Self.magic) else {
            throw bytes.starts(with: Self.magic.dropLast()) ? Failure.otherVersion : Failure.damaged
        }
        let payload = bytes[Self.headerLength...]
        let checksum = bytes[Self.magic.count..<Self.headerLength].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        guard CRC32.checksum(of: payload) == checksum else { throw Failure.damaged }
        let json = try JSONValue(parsing: payload, maximumDepth: 2048)
        guard json["path"]?.string == key.path, json["text"]?.string == key.text, json["identity"]?.string == key.identity?.name else {
            throw Failure.otherQuery
        }
        guard let seconds = json["date"]?.number, let data = json["data"]?.array else { throw Failure.damaged }
        func count(_ name: String) -> Int? { json[name]?.integer.flatMap { Int(exactly: $0) } }
        page = Paginated(data: data, total: count("total"), limit: count("limit"))
        (isComplete, date) = (json["isComplete"]?.bool ?? false, Date(timeIntervalSinceReferenceDate: seconds))
        unsettled = Set((json["unsettled"]?.array ?? []).compactMap { $0.string.flatMap(UUID.init(uuidString:)) })
    }
}

extension LiveSource {
    /// Returns the key under which the query's result is kept for a user.
    func keptKey(for identity: Identity?) -> KeptResultKey {
        let query = params.query.joined(with: query)
        let values: JSONObject = [
            "query": .object(query.json), "id": .string(id),
            "route": .object(JSONObject(params.route.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
            "headers": .object(JSONObject(params.headers.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
        ]
        let text = (try? JSONValue.object(values).serialized()).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return KeptResultKey(identity: identity, path: service.path, text: text)
    }
}
