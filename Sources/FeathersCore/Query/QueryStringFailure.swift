/// Why a query cannot be written into a URL.
enum QueryStringFailure {
    case emptyArray
    case emptyObject
    case longArray(count: Int, limit: Int)
    case deep(limit: Int)
    case manyPairs(limit: Int)

    /// One step of the way from the query to a value in it.
    enum Step {
        case key(String)
        case index(Int)
    }

    /// The refusal of the value at `path`. Names the properties, never their values.
    func error(at path: [Step]) -> FeathersError {
        let name = Self.name(of: path)
        return switch self {
        case .emptyArray:
            Self.refusal("'\(name)' is an empty array: a query string has no form for it and would leave the condition out.")
        case .emptyObject:
            Self.refusal("'\(name)' is an empty object: a query string has no form for it and would leave the condition out.")
        case .longArray(let count, let limit):
            Self.refusal(
                """
                '\(name)' has \(count) elements, and servers read only \(limit) as an array. Write arrays with brackets, \
                send the query over a socket, or raise `arrayLimit` to what the server reads.
                """)
        case .deep(let limit):
            Self.refusal(
                """
                '\(name)' lies deeper than the \(limit) levels servers read from a query string. \
                Send the query over a socket, or raise `depthLimit` to what the server reads.
                """)
        case .manyPairs(let limit):
            Self.refusal(
                """
                '\(name)' comes after the \(limit) values servers read from a query string. \
                Send the query over a socket, or raise `pairLimit` to what the server reads.
                """)
        }
    }

    private static func refusal(_ reason: String) -> FeathersError {
        FeathersError(.badRequest, "Query not sent: \(reason)", execution: .neverSent)
    }

    private static func name(of path: [Step]) -> String {
        var name = ""
        for step in path {
            switch step {
            case .key(let key): name += name.isEmpty ? key : ".\(key)"
            case .index(let index): name += "[\(index)]"
            }
        }
        return name
    }
}
