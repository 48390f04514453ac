import FeathersCore
import FeathersNetworking
import FeathersSupport

extension SocketIOClient {
    /// The header fields of one attempt: the application's, then those of plugins that do not stand there yet.
    func headers(_ setups: [ConnectionSetup]) async throws -> HTTPHeaders {
        var headers = HTTPHeaders()
        for make in [options.headers].compactMap(\.self) + setups.map(\.headers) {
            let fields = try await make().filter { headers[$0.key] == nil }
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
                do {
                    try headers.set(name, to: value)
                } catch {
                    throw FeathersError.refused(error.message)
                }
            }
        }
        return headers
    }

    /// Whether a plugin wants another attempt after an end that is final otherwise; not once nobody wants a connection any more.
    func reconnects(after reason: DisconnectReason) async -> Bool {
        switch reason {
        case .serverDisconnect, .refused: break
        default: return false
        }
        let (setups, stop) = state.withLock { ($0.setups, $0.stopSignal) }
        guard !setups.isEmpty else { return false }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for setup in setups where !Task.isCancelled {
                    if await setup.reconnects(reason) { return true }
                }
                return false
            }
            group.addTask {
                try? await stop.value()
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
