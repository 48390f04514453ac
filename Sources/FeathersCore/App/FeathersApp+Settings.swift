/// The key of a typed setting of an app.
///
/// ```swift
/// enum PageSize: AppSetting { typealias Value = Int }
/// app[PageSize.self] = 20
/// ```
public protocol AppSetting {
    /// What is set.
    associatedtype Value: Sendable
}

extension FeathersApp {
    /// A setting of the app; nil until it is set.
    public subscript<Key: AppSetting>(key: Key.Type) -> Key.Value? {
        get { withState { $0.settings[ObjectIdentifier(key)] } as? Key.Value }
        set { withState { $0.settings[ObjectIdentifier(key)] = newValue } }
    }

    /// Runs a plugin: a function that registers services, hooks and settings.
    public func configure(_ plugin: (FeathersApp) async throws -> Void) async rethrows {
        try await plugin(self)
    }
}
