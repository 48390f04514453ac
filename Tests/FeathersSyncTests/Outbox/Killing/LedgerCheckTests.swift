import Testing

@Suite("The check of what a ledger says")
struct LedgerCheckTests {
    private static let acknowledged = "k1 a 1\nk2 a 2\nk3 b 1\n"
    private static func execution(_ key: String, _ record: String, _ number: Int) -> String {
        #"{"key": "\#(key)", "record": "\#(record)", "n": \#(number)}"# + "\n"
    }

    private static let intact = [execution("k1", "a", 1), execution("k3", "b", 1), execution("k2", "a", 2)]

    @Test("Nothing is wrong where all was executed once, in the order of each record, whatever else was")
    func right() throws {
        for ledger in [Self.intact, Self.intact + [Self.execution("k4", "a", 3)]] {
            #expect(try LedgerCheck(acknowledged: Self.acknowledged, ledger: ledger.joined()).violations == [])
        }
    }

    @Test("What was given up may be executed or not, and no more than once")
    func unknown() throws {
        let acknowledged = Self.acknowledged + "UNKNOWN k3\n"
        func violations(_ ledger: [String]) throws -> [String] {
            try LedgerCheck(acknowledged: acknowledged, ledger: ledger.joined()).violations
        }
        #expect(try violations(Self.intact) == [])
        #expect(try violations([Self.intact[0], Self.intact[2]]) == [])
        #expect(try violations(Self.intact + [Self.intact[1]]) != [])
    }

    @Test(
        "It finds what was lost, repeated, changed and out of order",
        arguments: [
            (Array(intact.dropLast()), "lost"), (intact + [intact[1]], "executed 2 times"),
            ([intact[1], intact[2], intact[0]], "after 2"),
            ([intact[0], intact[1], execution("k2", "a", 9)], "executed as something else"),
        ])
    func wrong(_ ledger: [String], _ violation: String) throws {
        let violations = try LedgerCheck(acknowledged: Self.acknowledged, ledger: ledger.joined()).violations
        #expect(violations.contains { $0.hasPrefix(violation) }, "\(violations)")
    }
}
