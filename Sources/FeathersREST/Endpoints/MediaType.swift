import Foundation

/// Media types as they are compared: without parameters and case.
struct MediaType {
    private let type: Substring
    private let subtype: Substring

    /// nil for what is no media type.
    init?(_ text: some StringProtocol) {
        let essence = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else { return nil }
        (type, subtype) = (halves[0], halves[1])
    }

    /// Whether one of the ranges of an `Accept` field covers this type.
    func isAccepted(by accept: String) -> Bool {
        accept.split(separator: ",").compactMap { MediaType($0) }.contains { range in
            (range.type == "*" || range.type == type) && (range.subtype == "*" || range.subtype == subtype)
        }
    }
}
