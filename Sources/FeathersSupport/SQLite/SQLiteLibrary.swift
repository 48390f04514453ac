import CSQLite

/// The system's SQLite. Except on Apple platforms, it is loaded when a database is first opened, and stays loaded.
package enum SQLiteLibrary {
    /// The library to load. Tests hide it by naming another one.
    @TaskLocal package static var name = standardName

    #if canImport(Android)
        // Apps cannot use Android's own copy, so they bring another one, without numbers in its name.
        private static let standardName = "libsqlite3.so"
        static let advice = "Android has none for apps: add it to the app's native libraries"
    #elseif canImport(Musl)
        private static let standardName = "libsqlite3.so.0"
        static let advice = "Statically linked programs cannot load libraries: build for glibc to use local data"
    #else
        private static let standardName = "libsqlite3.so.0"
        static let advice = "Install it (on Debian and Ubuntu, the package libsqlite3-0)"
    #endif
    private static let standard = load(standardName)
    /// The first version that can be told not to follow links.
    private static let minimumVersion: Int32 = 3_031_000

    /// - Throws: ``DatabaseFailure`` if the library is missing or too old.
    static func functions(for path: String) throws -> csqlite_functions {
        #if canImport(Darwin)
            // The library is part of the system, but tests can still hide it.
            let functions = name == standardName ? standard : nil
        #else
            let functions = name == standardName ? standard : load(name)
        #endif
        guard let functions else { throw DatabaseFailure(path, .noLibrary(name)) }
        return functions
    }

    private static func load(_ name: String) -> csqlite_functions? {
        withUnsafeTemporaryAllocation(of: csqlite_functions.self, capacity: 1) { table in
            guard let first = table.baseAddress, csqlite_load(name, first) else { return nil }
            return first.pointee.libversion_number() < minimumVersion ? nil : first.pointee
        }
    }
}
