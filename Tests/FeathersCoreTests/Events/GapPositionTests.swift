import FeathersCore
import Testing

@Suite("The markers of missing events", .timeLimit(.minutes(10)))
struct GapPositionTests {
    private actor Nothing: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { .null }
    }

    /// Reads to the number given; the number after each marker must be as far away as the marker says.
    private func read(_ deliveries: AsyncStream<EventDelivery<ServiceEvent>>, to last: Int64) async -> (
        read: Int64, missing: Int64
    ) {
        var (read, missing, expected): (Int64, Int64, Int64) = (0, 0, 1)
        for await delivery in deliveries {
            switch delivery {
            case .gap(let gap):
                guard case .overflow(let dropped) = gap.reason else { continue }
                missing += Int64(dropped)
                expected += Int64(dropped)
            case .event(let event):
                #expect(event.data == .integer(expected))
                guard case .integer(let number) = event.data, number < last else { return (read + 1, missing) }
                read += 1
                expected = number + 1
            }
        }
        return (read, missing)
    }

    private func emit(_ last: Int64, from service: Service<JSONValue>) {
        for number in 1...last { service.emit("n", .integer(number)) }
    }

    @Test("stand where events are missing, also when more go missing between a marker and the event after it")
    func betweenMarkerAndEvent() async throws {
        let service = try await FeathersApp().use(Nothing(), at: "n")
        let stream = service.eventDeliveries(["n"], bufferingNewest: 2)
        for number in 1...3 { service.emit("n", .integer(Int64(number))) }
        var deliveries = stream.makeAsyncIterator()
        guard case .gap(let gap)? = await deliveries.next(), case .overflow(dropped: 1) = gap.reason else {
            Issue.record("the gap comes first")
            return
        }
        for number in 4...5 { service.emit("n", .integer(Int64(number))) }
        guard case .gap(let next)? = await deliveries.next(), case .overflow(dropped: 2) = next.reason else {
            Issue.record("2 and 3 are missing before 4")
            return
        }
        guard case .event(let four)? = await deliveries.next(), case .event(let five)? = await deliveries.next() else {
            Issue.record("4 and 5 come after the gaps")
            return
        }
        #expect([four.data, five.data] == [4, 5])
    }

    @Test("are exact while events come faster than they are read")
    func racing() async throws {
        let service = try await FeathersApp().use(Nothing(), at: "n")
        let deliveries = service.eventDeliveries(["n"], bufferingNewest: 3)
        let last: Int64 = 200_000
        async let emitting: Void = emit(last, from: service)
        let (read, missing) = await read(deliveries, to: last)
        await emitting
        #expect(read + missing == last)
        #expect(service.app.metrics.events.first?.dropped == Int(missing))
    }
}
