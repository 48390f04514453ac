/// The names in a scope. No name is used twice.
struct NameSpace {
    private var names: Set<String>
    /// The last number that was appended to each name. Lower numbers are taken, so many names that clash take no longer
    /// than names that don't.
    private var numbers: [String: Int] = [:]

    init(_ names: Set<String> = []) { self.names = names }

    func contains(_ name: String) -> Bool { names.contains(name) }

    /// Takes a name if it is free.
    @discardableResult
    mutating func insert(_ name: String) -> Bool { names.insert(name).inserted }

    /// Takes the first candidate that is free, or otherwise the last candidate with a number.
    /// - Parameter isTaken: Returns whether a name is taken elsewhere, now and in the future.
    mutating func take(_ candidates: [String], unless isTaken: (String) -> Bool = { _ in false }) -> String {
        let candidates = candidates.filter { !$0.isEmpty }
        if let free = candidates.first(where: { !names.contains($0) && !isTaken($0) }) {
            names.insert(free)
            return free
        }
        let base = candidates.last ?? "value"
        var number = numbers[base] ?? 1
        repeat { number += 1 } while names.contains(base + String(number)) || isTaken(base + String(number))
        numbers[base] = number
        names.insert(base + String(number))
        return base + String(number)
    }
}
