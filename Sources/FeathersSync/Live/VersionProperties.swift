// Locks: `changing` guards the app's setting while it is changed.

public import FeathersCore
import FeathersSupport

extension FeathersApp {
    /// Names a property of a service's records that only grows, such as a counter or the time of the last change.
    ///
    /// Then live queries compare two states of a record: an older one never replaces a newer one, however late its
    /// event, page or response arrives, and a newer one is shown without a fetch. The server must give each change of a
    /// record a greater value. A page that is requested after a state was received replaces it anyway, so that a
    /// wrong version, or a record that was removed and created again, lasts no longer than until the next fetch. States
    /// with equal values are not ordered, so that the rules for records without versions decide.
    ///
    /// Numbers, dates in every form that conditions understand, text of digits, and other text of one length can be
    /// compared. For paths with placeholders, the property is ignored, because events do not say for which values they
    /// are. Call this before you read live queries of the service.
    /// - Parameters:
    ///   - path: The path of the service. Slashes at both ends are ignored.
    ///   - property: The name of the property.
    public func version(of path: String, by property: String) {
        VersionProperties.changing.withLock { _ in
            var properties = self[VersionProperties.self] ?? [:]
            properties[Self.stripSlashes(path)] = property
            self[VersionProperties.self] = properties
        }
    }

    /// Returns the name of the property that orders the states of a service's records; nil if there is none.
    func versionProperty(of path: String) -> String? { self[VersionProperties.self]?[path] }
}

/// The names of the properties that only grow, by path.
private enum VersionProperties: AppSetting {
    typealias Value = [String: String]

    /// Held while they are changed, so that no change is lost.
    static let changing = Locked(LockTurn())
}
