import FeathersCore
import Testing

@Suite("Identities")
struct IdentityTests {
    @Test("are compared by the bytes of their names, as on the server")
    func bytes() {
        let (composed, decomposed) = (Identity("ren\u{E9}"), Identity("rene\u{301}"))
        #expect(composed.name == decomposed.name && composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2 && Identity("a") == Identity("a"))
    }
}
