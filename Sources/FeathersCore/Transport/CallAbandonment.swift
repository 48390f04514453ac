/// Ends calls with their app where nothing else would.
///
/// It travels in ``Params`` under its own type, to a transport that knows itself which of its calls need that.
package struct CallAbandonment: ParamsKey, Sendable {
    package typealias Value = CallAbandonment

    let gate: CallGate

    /// Runs a call that ends, at the latest, with the app.
    /// - Throws: what the call throws; ``FeathersError/Code/unavailable`` where the app's shutdown did not wait for it any longer.
    package func run(_ call: @escaping @Sendable () async throws -> JSONValue) async throws -> JSONValue {
        let abandonable = AbandonableCall()
        guard gate.add(abandonable) else {
            throw FeathersError(.unavailable, "The app was shut down before the call was made", execution: .neverSent)
        }
        defer { gate.remove(abandonable) }
        return try await abandonable.run(call)
    }
}

/// A transport that has those of its calls end with the app that no connection's end would fail: it finds ``CallAbandonment`` in their parameters.
package protocol CallAbandoningTransport: Transport {}
