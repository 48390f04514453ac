#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How long a kept answer is fresh.
public enum CacheExpiration: Sendable, Hashable {
    case never
    /// So many seconds from when the answer came.
    case seconds(Double)
    case date(Date)

    /// When an answer that comes now expires; nil for never.
    func date(from now: Date) -> Date? {
        switch self {
        case .never: nil
        case .seconds(let seconds): now.addingTimeInterval(seconds)
        case .date(let date): date
        }
    }
}
