#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    /// Programs that run as another user.
    enum OtherUser {
        static let setpriv = "/usr/bin/setpriv"

        /// Whether programs of other users can be run, and may read the program.
        static var canRun: Bool {
            guard geteuid() == 0, access(setpriv, X_OK) == 0 else { return false }
            var url = SiblingProgram.url("LocalWriter")
            while url.path != "/" {
                var status = stat()
                guard lstat(url.path, &status) == 0, status.st_mode & 0o001 != 0 else { return false }
                url.deleteLastPathComponent()
            }
            return true
        }
    }

    @Suite(
        "A local store among other users", .timeLimit(.minutes(10)),
        .enabled(if: OtherUser.canRun, "only the superuser can run a program as another user, with setpriv"))
    struct OtherUserTests {
        /// A folder on the way to a store.
        struct Home: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let owner: uid_t
            var group: gid_t = 0
            let mode: mode_t
            /// The group of the process, which is that of the user 12345.
            var processGroup: gid_t = 12345
            /// Who owns the folder of the store; nil if the process creates it.
            var inner: uid_t? = nil
            /// What the refusal says; nil if there is none.
            let refusal: String?
        }

        static let homes = [
            Home(testDescription: "the user's own", owner: 12345, group: 12345, mode: 0o755, refusal: nil),
            Home(
                testDescription: "an arbitrary user's in a container", owner: 0, mode: 0o775, processGroup: 0,
                refusal: nil),
            Home(testDescription: "the superuser's with a volume", owner: 0, mode: 0o755, inner: 12345, refusal: nil),
            Home(testDescription: "a folder for temporary files", owner: 0, mode: 0o1777, refusal: nil),
            Home(testDescription: "open to all", owner: 0, mode: 0o777, refusal: "its mode 777"),
            Home(
                testDescription: "open to a group", owner: 0, group: 50, mode: 0o775, inner: 12345,
                refusal: "its mode 775"),
            Home(testDescription: "another user's", owner: 54321, mode: 0o755, inner: 12345, refusal: "(54321)"),
            Home(testDescription: "another user's, sticky", owner: 54321, mode: 0o1777, refusal: "(54321)"),
            Home(testDescription: "with another user's store", owner: 0, mode: 0o755, inner: 54321, refusal: "(54321)"),
        ]

        @Test("is opened where no other user can replace it, and nowhere else", arguments: homes)
        func opened(_ home: Home) async throws {
            let folder = try OutboxFolder()
            #expect(chmod(folder.url.path, 0o755) == 0)
            let path = folder.url.appending(path: "home").path
            try FileManager.default.createDirectory(atPath: "\(path)/app", withIntermediateDirectories: true)
            if let inner = home.inner {
                #expect(chmod("\(path)/app", 0o755) == 0 && chown("\(path)/app", inner, inner) == 0)
            } else {
                #expect(rmdir("\(path)/app") == 0)
            }
            #expect(chown(path, home.owner, home.group) == 0 && chmod(path, home.mode) == 0)
            let launcher = [
                OtherUser.setpriv, "--reuid=12345", "--regid=\(home.processGroup)", "--clear-groups",
            ]
            let result = try await LocalReading.read(["\(path)/app"], launcher)["\(path)/app"]
            if let refusal = home.refusal {
                #expect(result?.hasPrefix("refused ") == true && result?.contains(refusal) == true, "\(result ?? "")")
            } else {
                #expect(result == "shown ")
            }
        }
    }
#endif
