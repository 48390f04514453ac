extension Params {
    /// Whether the call fails at once when there is no connection, rather than wait for one (Socket.IO's `volatile`).
    public var isVolatile: Bool {
        get { self[VolatileCall.self] ?? false }
        set { self[VolatileCall.self] = newValue ? true : nil }
    }

    /// Whether the call may be executed twice to no effect although its method does not say so: an endpoint that only reads.
    package var isSafeToRepeat: Bool {
        get { self[SafeToRepeat.self] ?? false }
        set { self[SafeToRepeat.self] = newValue }
    }

    /// Whether the server that gets the call is one that may see the app's tokens; an endpoint may be somebody else's.
    package var carriesCredentials: Bool {
        get { self[CarriesCredentials.self] ?? true }
        set { self[CarriesCredentials.self] = newValue }
    }

    /// Whether the call goes over HTTP whatever the app's transport is, as endpoints do.
    package var travelsByHTTP: Bool {
        get { self[TravelsByHTTP.self] ?? false }
        set { self[TravelsByHTTP.self] = newValue }
    }
}

extension ServiceRequest {
    /// Whether the request may be executed twice to no effect.
    package var isSafeToRepeat: Bool { method == .find || method == .get || params.isSafeToRepeat }
}

/// Marks calls that are worth nothing late.
private enum VolatileCall: ParamsKey {
    typealias Value = Bool
}

private enum TravelsByHTTP: ParamsKey {
    typealias Value = Bool
}

private enum SafeToRepeat: ParamsKey {
    typealias Value = Bool
}

private enum CarriesCredentials: ParamsKey {
    typealias Value = Bool
}
