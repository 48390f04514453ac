import FeathersCore
import FeathersNetworking

/// A call on its way: the request, and what has to be known to read the answer.
struct JSONAPIExchange {
    /// What the answer to a call is read as.
    enum Expectation {
        /// Resources, with the page's size where it was asked for by that.
        case collection(limit: Int?, skip: Int?)
        /// One resource, which must be there.
        case resource
        /// The resource as it is after a change; the record that was sent where the server does not say.
        case change(sent: JSONObject)
        /// Whatever is at the other end of a relationship: a resource, several, or none.
        case related
        /// The results of a batch, in its order; the records that were sent where the server says nothing of one.
        case batch(sent: [JSONObject])
        /// A document as it is; an empty one where the server has nothing to say.
        case document
    }

    var request: HTTPRequest
    var expectation: Expectation
    /// The paths that were asked to come along, as they stand in the request; nil where it was left to the server.
    var include: [String]?
    /// The result where it is known without asking: of no ids no resource is found, and a batch holds one operation at least (Atomic
    /// Operations, "Document Structure").
    var knownResult: JSONValue?
}
