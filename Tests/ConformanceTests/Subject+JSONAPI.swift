import Feathers
import FeathersJSONAPI
import TestBackend

extension Subject {
    /// The JSON:API server, with several records at once by Atomic Operations.
    static let jsonAPI = Subject(
        testDescription: "JSON:API", keepsTimeouts: true,
        lacks: [
            .update: "there is no PUT, and a PATCH keeps what it does not name",
            .customMethods: "there are resources, relationships and operations, and nothing to call",
            .changesByCondition: "a request and an operation name the resource they change",
            .alternatives: "the strategies of filters that come along have no form for $or",
            .removedRecords: "a DELETE and its operation are answered without the resource",
            .bareResults: """
            data are resources: one that is null is not found, several are an array, \
            and without pages in a page all the same
            """,
            .pageSizes: "documents say how many resources there are, and not how many a page may hold",
            .feathersErrors: "what an error says beyond its words stands in its object's meta",
        ],
        refusals: [
            "update of a missing record": noUpdate,
            "update of several": noUpdate,
            "patch of several where that is not allowed": noCondition("patch"),
            "remove of several where that is not allowed": noCondition("remove"),
            // The server's own words.
            "an unknown operator": OtherRefusal(
                code: .badRequest, message: "No operator 'regex'", execution: .answered),
            "an unknown filter": OtherRefusal(
                code: .badRequest, message: "Query not sent: this filter strategy does not support '$populate'",
                execution: .neverSent),
        ]
    ) {
        let space = try await JSONAPISpace(
            JSONAPISettings {
                $0.pagination = "offset"
                $0.pageSizes = "bounded"
            })
        let app = FeathersApp(
            transport: .jsonAPI(
                space.url, options: JSONAPIOptions(filters: .operators, pages: .offset, operationsPath: "operations")))
        app.use(hooks: Hooks(after: [{ $0.result = $0.result?.withoutDocument }]))
        return app
    }

    private static let noUpdate = OtherRefusal(
        code: .methodNotAllowed, message: "JSON:API cannot replace an entire resource; use 'patch'",
        execution: .neverSent)

    private static func noCondition(_ method: String) -> OtherRefusal {
        OtherRefusal(
            code: .methodNotAllowed,
            message:
                "JSON:API does not support '\(method)' by condition; "
                + "select records only by id, with '.where(\"id\", .isIn(ids))'",
            execution: .neverSent)
    }
}

extension JSONValue {
    /// Records, a page or an array of them with their fields and ids alone.
    fileprivate var withoutDocument: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutDocument))
        case .object(let object):
            .object(
                JSONObject(
                    object.filter { $0.key != "type" && !$0.key.hasPrefix("@") }.map {
                        ($0.key, $0.key == "data" && $0.value.array != nil ? $0.value.withoutDocument : $0.value)
                    }))
        default: self
        }
    }
}

extension FeathersError {
    /// What FeathersJS says in `data` and `errors`, from the meta of the first error object.
    var detailsInMeta: (JSONValue?, JSONValue?) {
        let meta = jsonAPIErrors.first?.meta
        return (meta?["data"], meta?["errors"])
    }
}
