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

    static func digest(_ text: String) -> String { SHA256.hex(Array(text.utf8)) }
}

/// The last result of a live query as the server reported it, without queued writes.
struct KeptResult: Sendable {
    /// Some of the records in a file.
    struct Part: Sendable {
        /// A JSON array.
        var text: ArraySlice<UInt8>
        var checksum: Int64?
        /// The indices of the records in the result.
        var indices: Range<Int>
    }

    typealias PartReader = @Sendable (Part) throws -> [ResultRow]

    let rows: ResultRows
    /// The number of records in the whole result, if the server has reported it.
    let total: Int?
    /// The number of records to show; nil for all.
    let limit: Int?
    /// Whether no record follows the last one.
    let isComplete: Bool
    /// Whether the records are in the order of a local sort. Comparing 1,000 of them takes 0.16 ms.
    let isSorted: Bool
    /// When the server's data was last up to date.
    let date: Date
    /// The writes that were queued or unsettled then. The result may lack those that were executed before the date.
    let unsettled: Set<UUID>
}

extension KeptResult {
    /// Takes the result of a live query; nil if it was not fetched, or if its user has left.
    init?(_ open: LiveWindow) {
        // Taken first, so that no write that is executed meanwhile counts as included.
        let date = Date.current
        let taken = open.withState { store, _ -> (window: Window, unsettled: Set<UUID>)? in
            guard open.sender.isCurrent, let window = store.windows[open.id], window.source == .server else {
                return nil
            }
            return (window, store.unsettled)
        }
        guard let (window, unsettled) = taken else { return nil }
        self.init(window, unsettled, at: date)
    }

    init(_ window: Window, _ unsettled: Set<UUID>, at date: Date) {
        self.date = date
        (rows, total, limit) = (window.known, window.total?.count, window.limit == .max ? nil : window.limit)
        (isComplete, isSorted, self.unsettled) = (window.isComplete, window.order.isSorted, unsettled)
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

    private static let magic = Array("FKEPT4".utf8)
    private static let headerLength = 10
    /// The length of a file above which a result is not kept.
    static let maximumLength = 32 * 1024 * 1024

    /// Returns the contents of the file: a marker, the head's checksum, the head as a line of JSON, and arrays of
    /// records.
    ///
    /// The head has the length, the checksum and the number of elements of each array, so that they can be read on all
    /// processors.
    /// - Throws: ``Failure/tooLarge``, as soon as that is certain.
    func bytes(of key: KeptResultKey, recordsPerPart: Int = 256, atMost limit: Int = maximumLength) throws -> [UInt8] {
        var (records, parts, start) = ([UInt8](), [JSONValue](), 0)
        for (index, row) in rows.enumerated() {
            records.append(UInt8(ascii: index % recordsPerPart == 0 ? "[" : ","))
            records += try row.record.serialized()
            guard records.count < limit else { throw Failure.tooLarge }
            guard (index + 1) % recordsPerPart == 0 || index + 1 == rows.count else { continue }
            records.append(UInt8(ascii: "]"))
            let numbers = [
                Int64(records.count - start), Int64(XXH64.checksum(of: records[start...])),
                Int64(index % recordsPerPart + 1),
            ]
            parts.append(.array(numbers.map { .integer($0) }))
            start = records.count
        }
        var json: JSONObject = [
            "path": .string(key.path), "text": .string(key.text), "date": .number(date.timeIntervalSinceReferenceDate),
            "isComplete": .bool(isComplete), "isSorted": .bool(isSorted), "parts": .array(parts),
        ]
        if !unsettled.isEmpty { json["unsettled"] = .array(unsettled.map { .string($0.uuidString) }) }
        if let identity = key.identity { json["identity"] = .string(identity.name) }
        if let total { json["total"] = .integer(Int64(total)) }
        if let limit = self.limit { json["limit"] = .integer(Int64(limit)) }
        let head = try JSONValue.object(json).serialized() + [UInt8(ascii: "\n")]
        let checksum = XXH64.checksum(of: head)
        guard Self.headerLength + head.count + records.count <= limit else { throw Failure.tooLarge }
        return Self.magic + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: checksum >> $0) } + head + records
    }

    /// Reads the contents of a file.
    init(
        _ bytes: [UInt8], of key: KeptResultKey, isolation: isolated (any Actor)? = #isolation,
        reading read: @escaping PartReader
    ) async throws {
        guard bytes.starts(with: Self.magic) else {
            throw bytes.starts(with: Self.magic.dropLast()) ? Failure.otherVersion : Failure.damaged
        }
        guard let headEnd = bytes.dropFirst(Self.headerLength).firstIndex(of: UInt8(ascii: "\n")) else {
            throw Failure.damaged
        }
        let checksum = bytes[Self.magic.count..<Self.headerLength].reversed().reduce(0) { $0 << 8 | Int64($1) }
        let head = bytes[Self.headerLength...headEnd]
        try Self.check(head, checksum)
        let json = try JSONValue(parsing: head)
        guard json["path"]?.string == key.path, json["text"]?.string == key.text,
            json["identity"]?.string == key.identity?.name
        else {
            throw Failure.otherQuery
        }
        guard let seconds = json["date"]?.number, let parts = json["parts"]?.array else { throw Failure.damaged }
        var (slices, start, index) = ([Part](), headEnd + 1, 0)
        for part in parts {
            guard let length = part[0]?.integer, 0...Int64(bytes.count - start) ~= length, let size = part[2]?.integer,
                0...length ~= size
            else { throw Failure.damaged }
            let text = bytes[start...].prefix(Int(length))
            slices.append(Part(text: text, checksum: part[1]?.integer, indices: index..<index + Int(size)))
            (start, index) = (start + Int(length), index + Int(size))
        }
        guard start == bytes.count else { throw Failure.damaged }
        // On all processors, and not on the disk's thread, because models are decoded too.
        let rows = try await slices.concurrentMap(isolation: nil) { part in
            try Self.check(part.text, part.checksum)
            let rows = try read(part)
            guard rows.count == part.indices.count else { throw Failure.damaged }
            return rows
        }
        func count(_ name: String) -> Int? { json[name]?.integer.flatMap { Int(exactly: $0) } }
        self.rows = ResultRows(rows.flatMap(\.self))
        (total, limit) = (count("total"), count("limit"))
        (isComplete, isSorted) = (json["isComplete"]?.bool ?? false, json["isSorted"]?.bool ?? false)
        date = Date(timeIntervalSinceReferenceDate: seconds)
        unsettled = Set((json["unsettled"]?.array ?? []).compactMap { $0.string.flatMap(UUID.init(uuidString:)) })
    }

    private static func check(_ bytes: ArraySlice<UInt8>, _ checksum: Int64?) throws {
        guard Int64(XXH64.checksum(of: bytes)) == checksum else { throw Failure.damaged }
    }
}

extension LiveSource {
    /// Returns the rows of a part of a kept result.
    func keptRows(of part: KeptResult.Part, _ judge: QueryJudge) throws -> [ResultRow] {
        let records = try JSONValue(parsing: part.text, maximumDepth: 2048).array ?? []
        return try zip(part.indices.lowerBound..., records).map { try judge.keptRow($1, at: $0) }
    }

    /// Returns the key under which the query's result is kept for a user; nil if it is not kept.
    ///
    /// Files contain no values of header fields. Those with credentials are left out, because the user tells results
    /// apart, and a renewed token must find them again. Without a user, nothing does, so a query with credentials of
    /// its own is not kept. Other fields take part as a digest.
    func keptKey(for identity: Identity?) -> KeptResultKey? {
        let credentials: Set = ["authorization", "cookie", "proxy-authorization", service.app.credentialField]
        let fields = params.headers.map { ($0.key.lowercased(), $0.value) }.sorted { $0 < $1 }
        let plain = fields.filter { !credentials.contains($0.0) }.map {
            JSONValue.array([.string($0.0), .string($0.1)])
        }
        if identity == nil, plain.count < fields.count { return nil }
        let query = params.query.joined(with: query)
        var values: JSONObject = [
            "query": .object(query.json), "id": .string(id),
            "route": .object(JSONObject(params.route.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
        ]
        func text(_ value: JSONValue) -> String {
            (try? value.serialized()).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        if !plain.isEmpty { values["headers"] = .string(KeptResultKey.digest(text(.array(plain)))) }
        return KeptResultKey(identity: identity, path: service.path, text: text(.object(values)))
    }
}
