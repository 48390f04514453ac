import FeathersSupport
import Foundation
import Testing

@Suite("Safe directories", .timeLimit(.minutes(10)))
struct SafeDirectoryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func directory() throws -> SafeDirectory { try #require(try SafeDirectory.open(folder.url.path)) }

    private func isRefusal(_ error: any Error, of path: String) -> Bool {
        guard case .refused? = (error as? FileFailure)?.reason else { return false }
        return "\(error)".contains("'\(path)'")
    }

    @Test("A missing directory is nil, or made with those above it, for its owner alone")
    func making() throws {
        let path = folder.path("a/b/c")
        #expect(try SafeDirectory.open(path) == nil)
        let made = try SafeDirectory.make(path + "//")
        #expect(made.path == path)
        for name in ["a", "a/b", "a/b/c"] { #expect(try folder.mode(name) == 0o700) }
        try SafeDirectory.make(path).create("file").write([1], at: 0)
        #expect(try made.open("file")?.readAll(atMost: 1) == [1])
    }

    @Test(
        "A directory that was opened before is reused only while its path leads to it, and only after the same checks"
    )
    func reusing() throws {
        let path = folder.path("a")
        let first = try SafeDirectory.make(path)
        #expect(try SafeDirectory.open(path, reusing: first) === first)
        #expect(chmod(path, 0o777) == 0)
        #expect { try SafeDirectory.open(path, reusing: first) } throws: { isRefusal($0, of: path) }
        #expect(chmod(path, 0o700) == 0)

        try FileManager.default.moveItem(atPath: path, toPath: folder.path("b"))
        #expect(try SafeDirectory.open(path, reusing: first) == nil)
        let second = try SafeDirectory.make(path)
        #expect(try SafeDirectory.open(path, reusing: first) !== first)
        try second.create("file").write([1], at: 0)
        #expect(try SafeDirectory.open(path, reusing: first)?.open("file") != nil)

        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path("b"))
        #expect { try SafeDirectory.open(path, reusing: first) } throws: { isRefusal($0, of: path) }
    }

    @Test("A file is replaced as a whole, and is private; nothing else is left")
    func replacing() throws {
        let directory = try directory()
        for text in ["first", "second, longer", ""] {
            try directory.replace("file", with: Array(text.utf8), draft: "draft")
            #expect(try folder.text(of: "file") == text)
        }
        #expect(try folder.mode("file") == 0o600)
        #expect(try folder.names() == ["file"])
        #expect(try directory.remove("file"))
        #expect(try !directory.remove("file"))
        #expect(try directory.open("file") == nil)
    }

    @Test("A replacement that fails leaves no draft")
    func failedReplacement() throws {
        try FileManager.default.createDirectory(atPath: folder.path("file"), withIntermediateDirectories: false)
        #expect { try directory().replace("file", with: [1], draft: "draft") } throws: {
            "\($0)".contains("'\(folder.path("file"))'")
        }
        #expect(try folder.names() == ["file"])
    }

    @Test("A prepared draft is neither written through nor kept open to others")
    func preparedDraft() throws {
        let victim = try TemporaryFolder()
        try victim.write("precious", to: "file")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("draft"), withDestinationPath: victim.path("file"))
        try directory().replace("file", with: Array("new".utf8), draft: "draft")
        #expect(try victim.text(of: "file") == "precious")

        try folder.write("", to: "draft")
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.path("draft"))
        try directory().replace("file", with: Array("newer".utf8), draft: "draft")
        #expect(try folder.text(of: "file") == "newer")
        #expect(try folder.mode("file") == 0o600)
    }

    @Test("Links are followed neither for reading nor for writing nor for the lock")
    func links() throws {
        try folder.write("precious", to: "target")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "target")
        try FileManager.default.createSymbolicLink(atPath: folder.path("nowhere"), withDestinationPath: "created")
        let directory = try directory()
        for name in ["link", "nowhere"] {
            let expected = "'\(folder.path(name))' is a link"
            #expect { try directory.open(name) } throws: { "\($0)".hasPrefix(expected) }
            #expect { try directory.openForWriting(name, creates: true) } throws: { "\($0)".hasPrefix(expected) }
            #expect { try directory.lock(name) } throws: { "\($0)".hasPrefix(expected) }
        }
        #expect(try folder.names() == ["link", "nowhere", "target"])
    }

    @Test("What is not a regular file is refused at once")
    func irregular() throws {
        let directory = try directory()
        #expect(mkfifo(folder.path("fifo"), 0o600) == 0)
        #expect { try directory.open("fifo") } throws: { isRefusal($0, of: folder.path("fifo")) }
        #expect { try directory.lock("fifo") } throws: { isRefusal($0, of: folder.path("fifo")) }
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: false)
        #expect { try directory.open("folder") } throws: { isRefusal($0, of: folder.path("folder")) }
    }

    @Test("A file that is too large is refused before it is read")
    func giant() throws {
        try folder.write("", to: "giant")
        #expect(truncate(folder.path("giant"), 1 << 40) == 0)
        let file = try #require(try directory().open("giant"))
        #expect { try file.readAll(atMost: 1000) } throws: { isRefusal($0, of: folder.path("giant")) }
        #expect(try file.read(upTo: 8) == Array(repeating: 0, count: 8))
    }

    @Test(
        "A file that others can write is refused; a secret also where they can read it",
        arguments: [0o644, 0o640, 0o620, 0o602])
    func modes(mode: Int) throws {
        try folder.write("text", to: "file")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path("file"))
        let directory = try directory()
        #expect { try directory.open("file", isSecret: true) } throws: {
            isRefusal($0, of: folder.path("file")) && "\($0)".contains(String(mode, radix: 8))
        }
        if mode & 0o022 == 0 {
            #expect(try directory.open("file") != nil)
        } else {
            #expect { try directory.open("file") } throws: { isRefusal($0, of: folder.path("file")) }
        }
    }

    @Test("A file with a second name is not changed in place")
    func hardLink() throws {
        try folder.write("text", to: "file")
        try FileManager.default.linkItem(atPath: folder.path("file"), toPath: folder.path("other"))
        #expect { try directory().openForWriting("file") } throws: { isRefusal($0, of: folder.path("file")) }
        #expect(try directory().open("file") != nil)
    }

    @Test(
        "A directory that others can write to is refused, unless they cannot replace its files",
        arguments: [0o777, 0o775, 0o722])
    func openDirectory(mode: Int) throws {
        let path = folder.path("folder")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        chmod(path, mode_t(mode))
        for use in [{ try SafeDirectory.open($0) }, { try SafeDirectory.make($0) }]
            as [(String) throws -> SafeDirectory?]
        {
            #expect { try use(path) } throws: { isRefusal($0, of: path) && "\($0)".contains(String(mode, radix: 8)) }
        }
        // The directory for temporary files looks like this.
        chmod(path, mode_t(mode | 0o1000))
        #expect(try SafeDirectory.open(path) != nil)
    }

    @Test("A link to a directory, and a file, are refused as a directory")
    func notADirectory() throws {
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "folder")
        try folder.write("text", to: "file")
        for name in ["link", "file"] {
            #expect { try SafeDirectory.open(folder.path(name) + "/") } throws: {
                "\($0)".contains("'\(folder.path(name))'")
            }
            #expect { try SafeDirectory.make(folder.path(name)) } throws: { "\($0)".contains("'\(folder.path(name))'") }
        }
        #expect { try SafeDirectory.make(folder.path("file/inside")) } throws: { "\($0)".contains(folder.path("file")) }
    }

    @Test(
        "What belongs to another user is refused",
        .enabled(if: geteuid() == 0, "only the superuser can give files away"))
    func owners() throws {
        try folder.write("text", to: "file")
        let directory = try directory()
        #expect(chown(folder.path("file"), 12345, 12345) == 0)
        #expect { try directory.open("file") } throws: {
            isRefusal($0, of: folder.path("file")) && "\($0)".contains("12345")
        }
        #expect { try directory.openForWriting("file") } throws: { isRefusal($0, of: folder.path("file")) }
        #expect(chown(folder.url.path, 12345, 12345) == 0)
        #expect { try SafeDirectory.open(folder.url.path) } throws: { isRefusal($0, of: folder.url.path) }
    }

    @Test("A path that is given to another directory does not redirect an open one")
    func redirected() throws {
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: false)
        let directory = try #require(try SafeDirectory.open(folder.path("folder")))
        try FileManager.default.moveItem(atPath: folder.path("folder"), toPath: folder.path("moved"))
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: false)
        try directory.replace("file", with: [1], draft: "draft")
        #expect(FileManager.default.fileExists(atPath: folder.path("moved/file")))
        #expect(!FileManager.default.fileExists(atPath: folder.path("folder/file")))
    }
}
