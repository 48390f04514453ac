extension Params {
    /// Whether the call may be executed twice to no effect although its method does not say so: an endpoint that only reads.
    package var isSafeToRepeat: Bool {
        get { self[SafeToRepeat.self] ?? false }
        set { self[SafeToRepeat.self] = newValue }
    }
}

private enum SafeToRepeat: ParamsKey {
    typealias Value = Bool
}
