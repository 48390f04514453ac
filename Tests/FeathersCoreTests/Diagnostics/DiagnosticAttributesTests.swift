import FeathersCore
import Testing

@Suite("Attributes of diagnostic events")
struct DiagnosticAttributesTests {
    @Test("A name occurs once, with its last value, so that a dictionary can be made of them")
    func repeatedNames() {
        var attributes: DiagnosticAttributes = ["a": 1, "b": 2, "a": 3]
        attributes.append("four", as: "b")
        #expect(attributes.map { $0.name.rawValue } == ["a", "b"])
        #expect(attributes["a"] == 3 && attributes["b"] == "four")
        #expect(Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0.value) }).count == 2)
    }
}
