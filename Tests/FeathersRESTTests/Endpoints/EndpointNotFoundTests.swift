import FeathersCore
import FeathersREST
import Testing

@Suite("An endpoint that the server does not have")
struct EndpointNotFoundTests {
    @Test(
        "is not found, which has nothing to do with services",
        arguments: [
            "", "<html>", #"{"name":"NotFound","message":"Page not found","code":404,"data":{"url":"/x"}}"#,
            #"{"name":"NotFound","message":"No record found for id '7'","code":404,"className":"not-found"}"#,
        ])
    func message(body: String) async throws {
        let error = try await #require(throws: FeathersError.self) {
            try await EndpointResponseTests.request(Endpoint<JSONValue>(.get, "users/me"), body, status: 404)
        }
        #expect(error.code == .notFound)
        #expect("\(error)".contains("not found: http://home:3030/api/users/me"))
        #expect(!"\(error)".contains("service"))
    }
}
