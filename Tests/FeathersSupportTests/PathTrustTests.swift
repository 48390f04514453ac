import FeathersSupport
import Foundation
import Testing

@Suite("Who can change where a path leads", .timeLimit(.minutes(10)))
struct PathTrustTests {
    private typealias Status = PathTrust.Status

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A name above the files of the user 1000, in the group 1000.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let owner: uid_t
        var group: gid_t = 1000
        let mode: UInt32
        var isLink = false
        /// What the objection says; nil if there is none.
        let objection: String?
    }

    static let cases = [
        Case(testDescription: "the superuser's", owner: 0, group: 0, mode: 0o755, objection: nil),
        Case(testDescription: "the superuser's alone", owner: 0, group: 0, mode: 0o700, objection: nil),
        Case(testDescription: "the user's", owner: 1000, mode: 0o755, objection: nil),
        Case(testDescription: "the user's alone", owner: 1000, mode: 0o700, objection: nil),
        Case(testDescription: "/tmp", owner: 0, group: 0, mode: 0o1777, objection: nil),
        Case(testDescription: "a sticky folder of the user", owner: 1000, mode: 0o1777, objection: nil),
        Case(
            testDescription: "a folder of the group with a sticky bit", owner: 0, group: 50, mode: 0o3775,
            objection: nil),
        Case(testDescription: "open to all", owner: 0, mode: 0o777, objection: "its mode 777 lets other users"),
        Case(testDescription: "the user's, open to all", owner: 1000, mode: 0o777, objection: "chmod go-w"),
        Case(testDescription: "open to those outside the group", owner: 1000, mode: 0o702, objection: "its mode 702"),
        Case(testDescription: "open to a group", owner: 1000, group: 50, mode: 0o775, objection: "its mode 775"),
        Case(
            testDescription: "open to a group that passes itself on", owner: 0, group: 50, mode: 0o2775,
            objection: "2775"),
        Case(testDescription: "open to the user's own group", owner: 1000, group: 7, mode: 0o775, objection: nil),
        Case(
            testDescription: "open to the user's own group and all", owner: 1000, group: 7, mode: 0o777,
            objection: "777"),
        Case(testDescription: "a mounted volume of the container's user", owner: 1000, mode: 0o755, objection: nil),
        Case(testDescription: "another user's", owner: 1001, mode: 0o755, objection: "another user (1001)"),
        Case(testDescription: "another user's, sticky", owner: 1001, mode: 0o1777, objection: "another user (1001)"),
        Case(testDescription: "another user's, closed", owner: 1001, mode: 0o700, objection: "another user (1001)"),
        Case(testDescription: "a link of the user", owner: 1000, mode: 0o777, isLink: true, objection: nil),
        Case(testDescription: "a link of the superuser", owner: 0, mode: 0o777, isLink: true, objection: nil),
        Case(testDescription: "another user's link", owner: 1001, mode: 0o777, isLink: true, objection: "(1001)"),
        Case(testDescription: "a user who is not known here", owner: 65534, mode: 0o755, objection: "(65534)"),
    ]

    @Test("A folder or link on the way", arguments: cases)
    func objections(_ example: Case) {
        let status = Status(owner: example.owner, group: example.group, mode: example.mode, isLink: example.isLink)
        let objection = PathTrust(users: [1000]) { $0 == 7 }.objection(to: status)
        if let expected = example.objection {
            #expect(objection?.contains(expected) == true)
        } else {
            #expect(objection == nil)
        }
    }

    @Test("In a container that does not know the superuser, the owner of / is trusted as the superuser is")
    func unknownSuperuser() {
        let status = Status(owner: 65534, group: 65534, mode: 0o755)
        #expect(PathTrust(users: [1000, 65534]).objection(to: status) == nil)
    }

    // MARK: Folders

    /// Makes a folder below others, with 0700, and gives one of those a mode and an owner.
    private func prepare(_ path: String, _ ancestor: String, mode: mode_t = 0o755, owner: uid_t? = nil) throws {
        _ = try SafeDirectory.make(folder.path(path))
        #expect(chmod(folder.path(ancestor), mode) == 0)
        if let owner { #expect(lchown(folder.path(ancestor), owner, owner) == 0) }
    }

    private func refusal(_ path: String) -> String {
        do {
            let directory = try SafeDirectory.make(folder.path(path))
            try Database.open("data", in: directory, .sample).close()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "A folder above that others can write to is named, with its mode and what to do; nothing is created in it",
        arguments: [0o777, 0o775, 0o722, 0o757] as [mode_t], ["a", "a/b"])
    func openAncestor(mode: mode_t, ancestor: String) throws {
        try prepare("a/b/c", ancestor, mode: mode)
        for path in ["a/b/c", "a/b/new"] {
            let text = refusal(path)
            #expect(text.contains("'\(folder.path(ancestor))'") && text.contains("its mode \(String(mode, radix: 8))"))
            #expect(text.contains("chmod go-w"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("a/b/new")))
        #expect(!FileManager.default.fileExists(atPath: folder.path("a/b/c/data")))
        #expect(chmod(folder.path(ancestor), mode | 0o1000) == 0)
        #expect(refusal("a/b/c") == "" && refusal("a/b/new") == "")
    }

    @Test("A database is not opened in a sticky folder, but in a private folder inside it")
    func stickyFolder() throws {
        try prepare("a", "a", mode: 0o1777)
        #expect(refusal("a").contains("'\(folder.path("a"))' cannot be used: its mode 1777"))
        #expect(refusal("a").contains("use a new directory inside it"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("a")) == [])
        #expect(refusal("a/mine") == "")
    }

    @Test(
        "A folder or a link of another user on the way is refused, and named",
        .enabled(if: geteuid() == 0, "only the superuser can give files away"))
    func owners() throws {
        try prepare("a/b/c", "a", owner: 12345)
        #expect(refusal("a/b/c").contains("'\(folder.path("a"))' cannot be used: it belongs to another user (12345)"))
        #expect(refusal("a/b/new").contains("(12345)"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("a/b/new")))

        _ = try SafeDirectory.make(folder.path("real/inner"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("real"))
        #expect(refusal("link/inner") == "")
        #expect(lchown(folder.path("link"), 12345, 12345) == 0)
        #expect(refusal("link/inner").contains("'\(folder.path("link"))' cannot be used: it belongs to another user"))
    }

    @Test("A link above leads to folders that are checked as well, however it is written")
    func links() throws {
        try prepare("open/inner", "open", mode: 0o777)
        _ = try SafeDirectory.make(folder.path("safe/inner"))
        let links = [
            ("absolute", folder.path("open")), ("relative", "open"), ("over", "safe/../open"), ("chain", "relative"),
            ("safe/up", "../open"), ("good", "safe"), ("good chain", "./good/"),
        ]
        for (name, target) in links {
            try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
        }
        for name in ["absolute", "relative", "over", "chain", "safe/up", "safe/../open", "safe/./up"] {
            #expect(refusal("\(name)/inner").contains("'\(folder.path("open"))'"), "\(name)")
        }
        for name in ["good", "good chain", "good/../safe", "./safe/."] {
            #expect(refusal("\(name)/inner") == "", "\(name)")
        }
        try FileManager.default.createSymbolicLink(atPath: folder.path("round"), withDestinationPath: "round")
        #expect(refusal("round/inner").contains("is a link"))
    }

    @Test("An open folder is refused once the path to it is no longer safe")
    func later() throws {
        let directory = try SafeDirectory.make(folder.path("a/b"))
        #expect(chmod(folder.path("a"), 0o777) == 0)
        #expect { try Database.open("data", in: directory, .sample) } throws: {
            "\($0)".contains("'\(folder.path("a"))'")
        }
        #expect(chmod(folder.path("a"), 0o755) == 0)
        try FileManager.default.moveItem(atPath: folder.path("a/b"), toPath: folder.path("a/moved"))
        _ = try SafeDirectory.make(folder.path("a/b"))
        #expect { try Database.open("data", in: directory, .sample) } throws: { "\($0)".contains("it was replaced") }
    }
}
