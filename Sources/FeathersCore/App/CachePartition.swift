/// Whose answers the caches of an app keep and show.
///
/// Set by what knows the user, authentication for one, and read by caches: neither needs to know the other. An answer belongs to the
/// partition its call began under; after a change no cache shows it until the name is the same again.
public struct CachePartition: Sendable, Hashable {
    /// A name that differs from user to user and stays the same for each, without secrets; empty where nobody is logged in.
    public let name: String

    /// How often the app's partition was set. A call that saw a change is not kept, even where the name came back.
    let change: Int
}

extension FeathersApp {
    /// Whose answers caches keep and show.
    public var cachePartition: CachePartition {
        withState { $0.cachePartition }
    }

    /// Says whose answers caches keep and show from now on: at log-in and at log-out, before any call in the user's name.
    /// - Parameter name: a name of the user, without secrets, the same in every process; empty for nobody.
    public func setCachePartition(_ name: String) {
        withState { $0.cachePartition = CachePartition(name: name, change: $0.cachePartition.change + 1) }
    }
}
