import FeathersCore
import FeathersNetworking

extension JSONAPIAnswer {
    /// The results of a batch by the places of its operations; the record that was sent where the server says nothing of one.
    func results(of document: JSONAPIDocument, sent: [JSONObject], _ response: HTTPResponse) throws(FeathersError) -> JSONValue {
        guard let results = document.extensionMembers["atomic:results"]?.array, results.count == sent.count else {
            throw unexpected("a result for each of \(sent.count) operations", response)
        }
        var records: [JSONValue] = []
        for (index, result) in results.enumerated() {
            var member: JSONObject = [:]
            for name in ["data", "meta", "links"] { member[name] = result[name] }
            guard let data = member["data"], !data.isNull else {
                records.append(.object(sent[index]))
                continue
            }
            do throws(JSONAPIError) {
                records.append(codec.records(of: try JSONAPIDocument(.object(member))))
            } catch {
                throw FeathersError(.generalError, "The result of operation \(index) is no resource: \(error)", cause: error)
            }
        }
        return .array(records)
    }
}
