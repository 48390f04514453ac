extension HTTPHeaders {
    /// Sets fields, in place of those of their names.
    package mutating func merge(_ headers: [String: String]) throws(HTTPClientError) {
        // Sorted, so that two spellings of one name give the same result in every run.
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            try set(name, to: value)
        }
    }
}
