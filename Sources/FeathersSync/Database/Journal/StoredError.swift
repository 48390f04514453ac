// Locks: Values without a lock.

import FeathersCore

extension FeathersError {
    /// Returns the error as an outbox stores it, possibly for months. Servers control the size of their errors, so
    /// every part is bounded.
    ///
    /// The message names what is omitted.
    /// - Parameter limit: The maximum total size of `errors`, `data` and `response` in bytes, with the first two as
    ///   JSON.
    func stored(details limit: Int = 64 * 1024) -> FeathersError {
        var room = limit
        var omitted: [String] = []
        func hasRoom(for size: Int?, of name: String) -> Bool {
            guard let size, size <= room else {
                omitted.append(name)
                return false
            }
            room -= size
            return true
        }
        var error = self
        if let errors, !hasRoom(for: try? errors.serialized().count, of: "errors") { error.errors = nil }
        if let data, !hasRoom(for: try? data.serialized().count, of: "data") { error.data = nil }
        if let response, !hasRoom(for: response.body.count, of: "response") { error.response = nil }
        if let cause = cause as? FeathersError { error.cause = cause.stored(details: limit) }
        let note = omitted.isEmpty ? "" : " (too large to store: \(omitted.joined(separator: ", ")))"
        error.message = message.cut(to: 1000 - note.count) + note
        (error.name, error.className) = (name.cut(to: 100), className.cut(to: 100))
        return error
    }
}

extension String {
    /// Returns the beginning of the string, up to a number of Unicode scalars. Characters have no maximum size.
    fileprivate func cut(to limit: Int) -> String {
        unicodeScalars.dropFirst(limit).isEmpty ? self : String(unicodeScalars.prefix(limit - 1)) + "…"
    }
}
