/// Which relationships a plain record is to hold the targets of, and which of those: the tree behind `author,comments.author`.
struct IncludePaths: Sendable, Equatable {
    private(set) var children: [String: IncludePaths] = [:]

    /// - Parameter paths: paths of names as they stand in documents.
    init(_ paths: some Sequence<String> = []) {
        for path in paths { insert(path.split(separator: ".").map(String.init)[...]) }
    }

    private mutating func insert(_ names: ArraySlice<String>) {
        guard let name = names.first else { return }
        children[name, default: IncludePaths()].insert(names.dropFirst())
    }
}
