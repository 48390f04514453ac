extension FeathersApp {
    /// How models of this app become JSON and back, where neither the service nor the call says otherwise.
    public var coding: any JSONCodec {
        get { self[AppCoding.self] ?? defaultCoding }
        set { self[AppCoding.self] = newValue }
    }
}

extension Params {
    /// How this call's models become JSON and back; it wins over the service's and the app's. Never sent.
    public var coding: (any JSONCodec)? {
        get { self[CallCoding.self] }
        set { self[CallCoding.self] = newValue }
    }
}

/// Boxed once: making it for every call would allocate.
private let defaultCoding: any JSONCodec = CodingOptions()

private enum AppCoding: AppSetting {
    typealias Value = any JSONCodec
}

private enum CallCoding: ParamsKey {
    typealias Value = any JSONCodec
}
