import FeathersModels
import Testing

@Suite("What a run changes in its folder")
struct OutputPlanTests {
    private let ours = "// Written by feathers-models from a.\n// x\nstruct Message {\n    var text: String\n}\n"
    private let moved = "// Written by feathers-models from b.\n// x\nstruct Message {\n    var text: Int\n}\n"

    @Test("nothing, if the models are the same, wherever they are from")
    func same() {
        let fromElsewhere = ours.replacing("from a", with: "from b")
        #expect(
            OutputPlan(
                files: ["Message.swift": fromElsewhere], present: ["Message.swift": ours, "Mine.swift": "let x = 1"]
            ).isEmpty)
    }

    @Test("files of ours are written and removed, and a person can read why")
    func changes() {
        let plan = OutputPlan(
            files: ["Message.swift": moved, "New.swift": ours], present: ["Message.swift": ours, "Old.swift": ours])
        #expect(plan.written.map(\.name) == ["Message.swift", "New.swift"])
        #expect(plan.removed == ["Old.swift"])
        #expect(
            plan.difference == """
                changed: Message.swift
                  struct Message {
                    - var text: String
                    + var text: Int
                new: New.swift
                gone: Old.swift

                """)
    }

    @Test(
        "a file that was written by hand is neither overwritten nor removed",
        arguments: ["Message.swift", "message.swift"])
    func handWritten(_ name: String) {
        let plan = OutputPlan(files: ["Message.swift": ours], present: [name: "struct Message {}", "Other.swift": ""])
        #expect(plan.refused == [name])
        #expect(plan.written.isEmpty && plan.removed.isEmpty)
    }

    @Test("guesses leave other services' files, and files that differ in comments alone")
    func samples() {
        let counted = ours.replacing("    var", with: "    /// In 9 of 10 records.\n    var")
        let plan = OutputPlan(
            files: ["Message.swift": counted], present: ["Message.swift": ours, "Old.swift": ours], isSample: true)
        #expect(plan.isEmpty)
    }
}
