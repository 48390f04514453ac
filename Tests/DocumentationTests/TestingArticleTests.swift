import Feathers
import FeathersTesting
import Testing

@Suite("The samples of the article about testing")
struct TestingArticleTests {
    @Test("do what they say")
    func testing() async throws {
        let transport = StubTransport()
        #expect(try await testOfTime(FeathersApp(transport: transport), transport).isEmpty)
        try await connections()
        #expect(madeOfStubs().count == 3)
    }
}
