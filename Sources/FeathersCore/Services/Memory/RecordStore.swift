/// The records of a memory service by id, listed as JavaScript lists an object's: whole numbers in ascending order first,
/// the others in the order they were added.
struct RecordStore: Sendable {
    private var indexed = OrderedRecords<UInt32>()
    private var named = OrderedRecords<ExactString>()
    /// Whether a number was added after a greater one. The row is sorted when it is next listed, once for all of them.
    private var needsSorting = false

    var count: Int { indexed.count + named.count }

    subscript(key: RecordKey) -> JSONValue? {
        switch key {
        case .index(let index): indexed[index]
        case .name(let name): named[name]
        }
    }

    mutating func store(_ record: JSONValue, for key: RecordKey) {
        switch key {
        case .index(let index):
            if let last = indexed.lastKey, last > index, indexed[index] == nil { needsSorting = true }
            indexed.store(record, for: index)
        case .name(let name):
            named.store(record, for: name)
        }
    }

    mutating func change(_ key: RecordKey, _ change: (inout JSONValue) -> Void) {
        switch key {
        case .index(let index): indexed.change(index, change)
        case .name(let name): named.change(name, change)
        }
    }

    mutating func remove(_ key: RecordKey) {
        switch key {
        case .index(let index): indexed.remove(index)
        case .name(let name): named.remove(name)
        }
    }

    /// Visits the records in order until `body` returns false.
    mutating func visit(_ body: (RecordKey, JSONValue) -> Bool) {
        if needsSorting {
            indexed.sort(by: <)
            needsSorting = false
        }
        for (index, record) in indexed.records where !body(.index(index), record) { return }
        for (name, record) in named.records where !body(.name(name), record) { return }
    }
}
