public import FeathersCore

/// How a replica learns which records were removed while the app was away.
struct ReplicaRemovals: Sendable, Equatable {
    /// A service whose records name the removed ones.
    struct Log: Sendable, Equatable {
        let path: String
        /// The property with the id of the removed record.
        let id: String
        /// The property in whose order the log grows.
        let version: String
        let filter: Query<JSONValue>
    }

    /// The property that marks a removed record, if records are marked.
    var mark: String?
    var log: Log?
    /// How often the ids of all records are compared with those of the server.
    var interval: Duration
    /// How long the server keeps its marks or its log; nil if forever.
    var retention: Duration?

    /// The condition that a record was not removed.
    var condition: Query<JSONValue> { mark.map { Query([$0: .null]) } ?? Query() }
}

extension Replica {
    /// How a replica learns which records were removed while the app was away.
    ///
    /// While the app is connected, events tell. Whatever the way, a replica also compares the ids of its records with
    /// those of the server from time to time, in pages: records that have left the conditions, or that the user may no
    /// longer see, are in no other list of removals.
    public struct Removals: Sendable {
        let removals: ReplicaRemovals

        /// Compares the ids of all records.
        /// - Parameter interval: How often, while the app runs, and after the app was away.
        public static func comparingIDs(every interval: Duration = .seconds(6 * 3600)) -> Removals {
            Removals(removals: ReplicaRemovals(interval: interval))
        }

        /// The server keeps removed records, and marks them in a property that is null or missing otherwise.
        ///
        /// The server must show marked records to a query that names the version, and only to that.
        /// - Parameters:
        ///   - property: The property, such as `deletedAt`.
        ///   - retention: How long the server keeps marked records; nil if forever. After a longer absence, ids are
        ///     compared.
        ///   - interval: How often ids are compared.
        public static func softDelete(
            _ property: String, retention: Duration? = nil, comparingIDsEvery interval: Duration = .seconds(24 * 3600)
        ) -> Removals {
            Removals(removals: ReplicaRemovals(mark: property, interval: interval, retention: retention))
        }

        /// Another service has a record for each removed one.
        /// - Parameters:
        ///   - path: The path of that service.
        ///   - id: The property of its records with the id of the removed record.
        ///   - version: The property in whose order its records were created: a date or a whole number.
        ///   - query: Conditions on its records, such as the name of the service that they are about.
        ///   - retention: How long the server keeps them; nil if forever. After a longer absence, ids are compared.
        ///   - interval: How often ids are compared.
        public static func log(
            _ path: String, id: String = "recordId", version: String = "createdAt",
            _ query: Query<JSONValue> = Query(), retention: Duration? = nil,
            comparingIDsEvery interval: Duration = .seconds(24 * 3600)
        ) -> Removals {
            let log = ReplicaRemovals.Log(path: path, id: id, version: version, filter: query)
            return Removals(removals: ReplicaRemovals(log: log, interval: interval, retention: retention))
        }
    }
}

extension Replica.Removals where Model: Queryable {
    /// The server keeps removed records, and marks them in a property that is null or missing otherwise.
    /// - Parameters:
    ///   - property: The property, such as `deletedAt`.
    ///   - retention: How long the server keeps marked records; nil if forever.
    ///   - interval: How often ids are compared.
    public static func softDelete(
        _ property: Model.QueryKeys, retention: Duration? = nil,
        comparingIDsEvery interval: Duration = .seconds(24 * 3600)
    ) -> Self {
        softDelete(property.stringValue, retention: retention, comparingIDsEvery: interval)
    }
}
