// Locks: Values without a lock.

public import FeathersCore
import FeathersSupport
public import Foundation

/// A store on this device for queued writes and the records of live queries: a SQLite database in a directory.
///
/// ```swift
/// try await app.use(localStore: .directory(folder))
/// ```
///
/// Everything is kept separately for each user. The files are unencrypted and readable only by their owner. On iOS, they
/// have a ``protection`` and are left out of backups, because a write that is restored would be sent a second time.
public struct LocalStore: Sendable {
    let directoryURL: URL
    /// Whether the app reads a database that another process writes: see ``readOnly(_:)``.
    public let isReadOnly: Bool
    /// Whether a user's records are removed when that user logs out. Queued writes stay, and are sent after the next
    /// sign-in.
    public var removesResultsAtLogOut = false
    /// The size in bytes above which the lists that were least recently shown are removed, with the records that no
    /// other list has. Queued writes never are.
    public var maximumSize = 128 * 1024 * 1024
    /// When the system lets the app read the files of the store. Has an effect on iOS, tvOS, watchOS and visionOS.
    ///
    /// A background task may run before the device is unlocked. It cannot open a store that is then out of reach.
    public var protection = Protection.untilFirstUnlock
    /// How long changes of a list are collected before it is written.
    public var writeDelay: Duration = .milliseconds(500)
    /// How long a live query waits for the server before it shows what is known, even if that is nothing.
    package var responseDelay: Duration = .seconds(2)
    /// The longest time by which the replicas of many devices are spread after a server has restarted.
    package var replicaSpread: Duration = .seconds(2)
    package var clock: any Clock<Duration> = ContinuousClock()

    /// A store in a directory, which is created if needed. Only one app may use it at a time.
    public static func directory(_ folder: URL) -> LocalStore { LocalStore(directoryURL: folder, isReadOnly: false) }

    /// A store that another process writes, for extensions and widgets.
    ///
    /// Live queries open with the lists and the queued writes that the directory contains, and follow them. Nothing is
    /// written, so the app has no outbox.
    public static func readOnly(_ folder: URL) -> LocalStore { LocalStore(directoryURL: folder, isReadOnly: true) }

    private init(directoryURL: URL, isReadOnly: Bool) {
        (self.directoryURL, self.isReadOnly) = (directoryURL, isReadOnly)
    }

    fileprivate var file: URL { directoryURL.appending(path: "local.sqlite", directoryHint: .notDirectory) }
}

extension LocalStore {
    /// When files can be read.
    public enum Protection: Sendable, Hashable {
        /// Always.
        case none
        /// Once the device has been unlocked after it was started. The default of the system.
        case untilFirstUnlock
        /// While the device is unlocked, and as long as they stay open.
        case unlessOpen
        /// While the device is unlocked.
        case complete
    }

    /// Gives the directory the protection of the store, which its files inherit, and leaves it out of backups.
    fileprivate func protect() throws {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            let type: FileProtectionType =
                switch protection {
                case .none: .none
                case .untilFirstUnlock: .completeUntilFirstUserAuthentication
                case .unlessOpen: .completeUnlessOpen
                case .complete: .complete
                }
            try FileManager.default.createDirectory(at: directoryURL, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: directoryURL.path)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var folder = directoryURL
            try folder.setResourceValues(values)
        #endif
    }
}

extension FeathersApp {
    /// Stores writes and records on this device: installs an outbox, and lets live queries open with their last lists.
    ///
    /// Records are written, and writes are sent, while the app is running: during ``FeathersApp/run()`` and
    /// ``withFeathersApp(_:_:)``.
    /// - Parameters:
    ///   - store: The place for the data.
    ///   - configure: Changes the options of the outbox.
    /// - Throws: ``FeathersError/Code/conflict`` if the app already has a store or an outbox, and a ``FeathersError``
    ///   naming the file if another app or process writes to the same directory, or if it cannot be used.
    public func use(localStore store: LocalStore, _ configure: (inout OutboxOptions) -> Void = { _ in }) async throws {
        guard storedLists == nil else {
            throw FeathersError(.conflict, "The app already has a local store", execution: .neverSent)
        }
        guard store.directoryURL.isFileURL else {
            throw FeathersError(
                .badRequest, "A local store needs the URL of a directory, not '\(store.directoryURL)'",
                execution: .neverSent)
        }
        guard !store.isReadOnly else {
            self[InstalledLocalStore.self] = StoredLists(store, .reader(DatabaseReader(store.file)))
            return
        }
        try store.protect()
        let outbox = try await Outbox(file: store.file) { options in
            configure(&options)
            options.storesRecords = true
        }
        let lists: StoredLists
        do {
            let lastChange = try await outbox.journal.read { try RecordTables.lastChange(in: $0) }
            lists = StoredLists(store, .outbox(outbox), lastChange: lastChange)
            try use(outbox: outbox)
        } catch {
            await outbox.close()
            throw error
        }
        if store.removesResultsAtLogOut {
            let app = weakReference
            observeIdentity { identity in lists.userChanged(to: identity) { app.app?.diagnostics } }
        }
        use(backgroundWork: { app in await lists.run(reportingTo: app.diagnostics) })
        use(backgroundWork: { app in await lists.replicas.run(app) })
        self[InstalledLocalStore.self] = lists
    }

    /// The data on this device; nil if the app has no local store.
    public var localStore: LocalData? { storedLists.map(LocalData.init) }

    /// The app's stored lists, if any.
    var storedLists: StoredLists? { self[InstalledLocalStore.self] }

    private enum InstalledLocalStore: AppSetting { typealias Value = StoredLists }
}

extension DiagnosticDomain {
    /// Messages about the local store.
    public static let localStore = DiagnosticDomain(rawValue: "localStore")
}
