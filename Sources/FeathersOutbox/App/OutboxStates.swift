/// How an outbox is, and then what it has become after each change.
///
/// A reader slower than the changes gets the newest state, not each one.
public struct OutboxStates: AsyncSequence, Sendable {
    public struct AsyncIterator: AsyncIteratorProtocol {
        var changes: AsyncStream<Void>.Iterator
        let outbox: Outbox

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> OutboxState? {
            await changes.next(isolation: actor) == nil ? nil : outbox.state
        }
    }

    let outbox: Outbox

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(changes: outbox.changes().makeAsyncIterator(), outbox: outbox)
    }
}
