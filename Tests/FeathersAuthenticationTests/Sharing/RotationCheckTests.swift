import Testing

@Suite struct RotationCheckTests {
    private func violations(_ lines: [String], killed: [String] = []) -> [String] {
        var check = RotationCheck()
        for line in lines { check.add(line) }
        for process in killed { check.addKill(of: process) }
        return check.violations
    }

    @Test func `A token may be used again only after the last refresh of a killed process`() {
        let lines = ["refreshed r1 0-0", "answered r1 0-0", "repeated r1 1-0", "refreshed r2 1-0"]
        #expect(violations(lines) == ["r1 was used by 0-0, 1-0"])
        #expect(violations(lines, killed: ["0-0"]) == [])
        #expect(violations(lines, killed: ["1-0"]) != [])
        // It went on with the response.
        #expect(violations(lines + ["refreshed r3 0-0"], killed: ["0-0"]) != [])
        // Two others have used it.
        #expect(violations(lines + ["repeated r1 2-0"], killed: ["0-0"]) != [])
        // The request of a killed process may be late.
        #expect(violations(["refreshed r1 1-0", "repeated r1 0-0", "refreshed r2 1-0"], killed: ["0-0"]) == [])
    }

    @Test(arguments: ["reused r1 0-0", "unknown r1 0-0"]) func `A refused refresh is always wrong`(_ line: String) {
        #expect(violations([line], killed: ["0-0"]) == [line])
    }
}
