import FeathersModels
import Foundation
import TestBackend
import Testing

@Suite("Models of known documents")
struct GoldenTests {
    @Test("are those that are kept; FEATHERS_MODELS_RECORD=1 keeps new ones", arguments: Corpus.names)
    func golden(_ name: String) throws {
        let file = Corpus.folder.appending(path: "Golden/\(name).txt")
        let text = Corpus.text(try Corpus.output(name))
        if Environment.recordsModels { try Data(text.utf8).write(to: file) }
        #expect(text == (try String(contentsOf: file, encoding: .utf8)))
    }

    @Test("are the same in every run", arguments: Corpus.names)
    func stable(_ name: String) throws {
        #expect(Corpus.text(try Corpus.output(name)) == Corpus.text(try Corpus.output(name)))
    }

    @Test("can be public, with initializers")
    func isPublic() throws {
        let text = Corpus.text(try Corpus.output("chat", isPublic: true))
        #expect(text.contains("public struct Message: Codable, Hashable, Sendable, Identifiable, ServiceModel {"))
        #expect(text.contains("        pinned: Presence<Bool> = .absent,\n"))
        #expect(text.contains("public import Feathers"))
    }
}
