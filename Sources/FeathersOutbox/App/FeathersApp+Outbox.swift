public import FeathersCore

extension FeathersApp {
    /// Gives the app an outbox, whose writes are sent while the app lives: during ``FeathersApp/run()`` and
    /// ``withFeathersApp(_:_:)``.
    /// - Throws: ``FeathersError/Code/conflict`` where the app has been given one before.
    public func useOutbox(_ outbox: Outbox) throws {
        guard self[InstalledOutbox.self] == nil else {
            throw FeathersError(.conflict, "The app has an outbox already", execution: .neverSent)
        }
        self[InstalledOutbox.self] = outbox
        addBackgroundWork { app in await outbox.run(in: app) }
    }

    /// The outbox of the app.
    public var outbox: Outbox? { self[InstalledOutbox.self] }

    private enum InstalledOutbox: AppSetting { typealias Value = Outbox }
}
