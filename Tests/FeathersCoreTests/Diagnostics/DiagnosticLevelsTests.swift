import FeathersCore
import Testing

@Suite("Diagnostic levels")
struct DiagnosticLevelsTests {
    @Test(
        "decide by domain, else by the level of everything",
        arguments: [
            (DiagnosticLevels(.info), DiagnosticLevel.info, DiagnosticDomain.calls, true),
            (DiagnosticLevels(.info), .debug, .calls, false),
            (DiagnosticLevels(.error, [.http: .debug]), .debug, .http, true),
            (DiagnosticLevels(.error, [.http: .debug]), .trace, .http, false),
            (DiagnosticLevels(.error, [.http: .debug]), .warning, .cache, false),
            (DiagnosticLevels(.trace, [.cache: nil]), .error, .cache, false),
            (DiagnosticLevels(nil, ["mine": .notice]), .notice, "mine", true),
            (DiagnosticLevels(nil), .error, .calls, false), (DiagnosticLevels(.trace), .trace, "anything", true),
        ])
    func allow(_ levels: DiagnosticLevels, _ level: DiagnosticLevel, _ domain: DiagnosticDomain, isAllowed: Bool) {
        #expect(levels.allow(level, domain) == isAllowed)
    }

    @Test("are ordered from what matters least")
    func order() {
        #expect(
            DiagnosticLevel.allCases.map(\.description) == ["trace", "debug", "info", "notice", "warning", "error"])
        #expect(DiagnosticLevel.allCases == DiagnosticLevel.allCases.sorted())
    }
}
