/// The subscribers of a hub in the order they came.
///
/// They lie in one row, by numbers that grow. Who goes leaves a gap, and the row closes up when half of it is gaps: a thousand readers
/// come and go at the cost of a thousand times one.
struct EventSubscriptions: Sendable {
    private struct Place: Sendable {
        let number: Int
        var subscription: EventSubscription?
    }

    private var places: [Place] = []
    private var lastNumber = 0
    private(set) var count = 0

    /// Those who are here, in their order.
    var all: some Sequence<EventSubscription> { places.lazy.compactMap(\.subscription) }

    /// - Returns: the number the subscriber goes by.
    mutating func add(_ subscription: EventSubscription) -> Int {
        lastNumber += 1
        places.append(Place(number: lastNumber, subscription: subscription))
        count += 1
        return lastNumber
    }

    /// Takes a subscriber out; does nothing where it has gone already.
    mutating func remove(_ number: Int) {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].number == number, places[low].subscription != nil else { return }
        places[low].subscription = nil
        count -= 1
        if count < places.count / 2 { places.removeAll { $0.subscription == nil } }
    }
}
