/// Who goes out in which batch: without input or output.
///
/// The first of a batch collects it: waits until it closes, takes the members and sends them. Where it gives up before, the next one collects.
struct BatchQueue<Key: Hashable & Sendable, Member: Sendable>: Sendable {
    enum Joining: Sendable, Equatable {
        /// It is the first of this batch, and collects.
        case opened(batch: Int)
        case joined(batch: Int)
        /// It is the last that the batch takes, which closes at once.
        case filled(batch: Int)
    }

    enum Departure: Sendable, Equatable {
        /// It was in no batch that is still open.
        case none
        case left
        /// It was to collect; the next one does now, that of this id.
        case handedOver(to: Int)
    }

    private struct Batch: Sendable {
        let key: Key
        let closingMoment: Duration
        var members: [(id: Int, member: Member)] = []
    }

    private let limit: Int
    private let window: Duration
    private var batches: [Int: Batch] = [:]
    /// The batches that take more, by what their members have in common.
    private var open: [Key: Int] = [:]
    /// The batch of each member that has not gone out.
    private var places: [Int: Int] = [:]
    private var lastNumber = 0

    /// - Parameters:
    ///   - limit: how many a batch takes.
    ///   - window: how long it takes more.
    init(limit: Int, window: Duration) {
        (self.limit, self.window) = (limit, window)
    }

    var isEmpty: Bool { batches.isEmpty && open.isEmpty && places.isEmpty }

    mutating func join(_ id: Int, _ member: Member, _ key: Key, at now: Duration) -> Joining {
        if let number = open[key], batches[number] != nil {
            batches[number]?.members.append((id, member))
            places[id] = number
            guard batches[number]?.members.count ?? 0 >= limit else { return .joined(batch: number) }
            open[key] = nil
            return .filled(batch: number)
        }
        lastNumber += 1
        batches[lastNumber] = Batch(key: key, closingMoment: now + window, members: [(id, member)])
        places[id] = lastNumber
        if limit > 1 { open[key] = lastNumber }
        return .opened(batch: lastNumber)
    }

    /// When a batch closes at the latest; nil where it is full already, and closes now.
    func closingMoment(of number: Int) -> Duration? {
        guard let batch = batches[number], open[batch.key] == number else { return nil }
        return batch.closingMoment
    }

    /// Takes the members of a batch in the order they came; whoever comes from now on opens another.
    mutating func close(_ number: Int) -> [(id: Int, member: Member)] {
        guard let batch = batches.removeValue(forKey: number) else { return [] }
        if open[batch.key] == number { open[batch.key] = nil }
        for member in batch.members { places[member.id] = nil }
        return batch.members
    }

    /// One gives up.
    mutating func leave(_ id: Int) -> Departure {
        guard let number = places.removeValue(forKey: id), let batch = batches[number],
            let place = batch.members.firstIndex(where: { $0.id == id })
        else { return .none }
        guard batch.members.count > 1 else {
            _ = close(number)
            return .left
        }
        batches[number]?.members.remove(at: place)
        return place == 0 ? .handedOver(to: batch.members[1].id) : .left
    }
}
