import FeathersCore

/// Texts that name a record among those of all services, or a service with a route.
enum RecordKey {
    static func text(_ id: ServiceID, _ path: String, _ route: [String: String]) -> String {
        "\(place(path, route))\(id)".exactKey
    }

    /// Returns the beginning of the keys of a service's records.
    static func place(_ path: String, _ route: [String: String]) -> String {
        // Encoded, so that no value looks like the end of one and the beginning of another.
        let values = route.sorted { $0.key < $1.key }.map { names in
            "\(percentEncoded(component: names.key))=\(percentEncoded(component: names.value))&"
        }
        return "\(path)?\(values.joined())#"
    }
}
