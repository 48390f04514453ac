package import Foundation

/// Whom a process trusts with the folders that lead to its files.
///
/// The law: every name on the way, a folder or a link, belongs to a trusted user, and a folder in which others can
/// write is sticky, so that they cannot replace what is in it. Then only trusted users can change where a path leads,
/// and what was checked stays true while the file is opened by its path.
package struct PathTrust: Sendable {
    /// What the system tells about a name.
    package struct Status: Sendable, Equatable {
        package let owner: uid_t
        package let group: gid_t
        /// The permissions, with the bit of sticky folders.
        package let mode: UInt32
        package let isLink: Bool

        package init(owner: uid_t, group: gid_t, mode: UInt32, isLink: Bool = false) {
            (self.owner, self.group, self.mode, self.isLink) = (owner, group, mode, isLink)
        }
    }

    private let users: Set<uid_t>
    /// Whether a group has no members whom the process does not trust.
    private let isOwn: @Sendable (gid_t) -> Bool

    /// - Parameters:
    ///   - users: The trusted users besides the superuser.
    ///   - isOwn: Returns whether all members of a group are trusted. Called only for groups that can write.
    package init(users: Set<uid_t>, isOwn: @escaping @Sendable (gid_t) -> Bool = { _ in false }) {
        (self.users, self.isOwn) = (users.union([0]), isOwn)
    }

    /// Returns why other users could replace what is below a name, and how to fix that; nil if they cannot.
    package func objection(to status: Status) -> String? {
        guard users.contains(status.owner) else {
            return "it belongs to another user (\(status.owner)), who can replace what is below it; "
                + "use a folder that is yours, below folders that are yours or the superuser's"
        }
        guard !status.isLink, status.mode & 0o1000 == 0 else { return nil }
        let isShared = status.mode & 0o002 != 0 || status.mode & 0o020 != 0 && !isOwn(status.group)
        guard isShared else { return nil }
        return "its mode \(String(status.mode & 0o7777, radix: 8)) lets other users replace what is below it; "
            + "take that from them (chmod go-w), or make it sticky (chmod +t)"
    }
}

// MARK: - This process

extension PathTrust {
    /// Whom this process trusts: its user, the superuser, and the owner of `/`, as whom the superuser appears in
    /// containers that do not know him.
    static var current: PathTrust {
        var users: Set<uid_t> = [geteuid()]
        var root = stat()
        if lstat("/", &root) == 0 { users.insert(root.st_uid) }
        return PathTrust(users: users, isOwn: isPrivate)
    }

    /// Whether a group is this user's alone: the group of the process that has his name and no other member, as Linux
    /// distributions create for each user, or the superuser's, in which containers run arbitrary users.
    private static func isPrivate(_ id: gid_t) -> Bool {
        guard geteuid() != 0, id == getegid() else { return false }
        guard id != 0 else { return true }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { buffer in
            guard let start = buffer.baseAddress else { return false }
            var (user, foundUser) = (passwd(), nil as UnsafeMutablePointer<passwd>?)
            guard getpwuid_r(geteuid(), &user, start, buffer.count, &foundUser) == 0, let foundUser else {
                return false
            }
            let name = String(cString: foundUser.pointee.pw_name)
            var (group, foundGroup) = (group(), nil as UnsafeMutablePointer<group>?)
            guard getgrgid_r(id, &group, start, buffer.count, &foundGroup) == 0, let foundGroup else { return false }
            guard String(cString: foundGroup.pointee.gr_name) == name else { return false }
            var next = foundGroup.pointee.gr_mem
            while let member = next?.pointee {
                guard String(cString: member) == name else { return false }
                next = next?.advanced(by: 1)
            }
            return true
        }
    }
}

// MARK: - Paths

extension PathTrust {
    /// Returns the path of a folder without links, after a check of every name above it. A link in its last place is
    /// not followed.
    ///
    /// Each folder is checked before a name in it is looked at, so no other user can change what was looked at.
    /// - Throws: ``FileFailure`` that names the folder or link, what is wrong with it, and how to fix it.
    func resolve(_ path: String) throws -> String {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS) || os(Android)
            // The system keeps apps apart, and may hide the folders above theirs.
            let parent = SafeDirectory.parent(of: path)
            guard let text = realpath(parent, nil) else { throw FileFailure.last(parent) }
            defer { free(text) }
            return "\(String(cString: text))/\(path.split(separator: "/").last ?? ".")"
        #else
            var resolved = ""
            var names = Array(Self.absolute(path).split(separator: "/").reversed())
            var links = 0
            try check("/")
            while let name = names.popLast() {
                if name == "." { continue }
                if name == ".." {
                    resolved = String(resolved[..<(resolved.lastIndex(of: "/") ?? resolved.startIndex)])
                    continue
                }
                let next = "\(resolved)/\(name)"
                guard !names.isEmpty else { return next }
                guard try check(next) else {
                    resolved = next
                    continue
                }
                links += 1
                guard links <= 40 else { throw FileFailure(next, .system(ELOOP)) }
                let target = try Self.target(of: next)
                if target.hasPrefix("/") { resolved = "" }
                names += target.split(separator: "/").reversed()
            }
            return resolved.isEmpty ? "/" : resolved
        #endif
    }

    /// - Returns: Whether it is a link.
    @discardableResult
    private func check(_ path: String) throws -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw FileFailure.last(path) }
        let isLink = mode_t(status.st_mode) & S_IFMT == S_IFLNK
        let known = Status(
            owner: status.st_uid, group: status.st_gid, mode: UInt32(status.st_mode) & 0o7777, isLink: isLink)
        if let objection = objection(to: known) { throw FileFailure(path, .refused(objection)) }
        return isLink
    }

    private static func target(of link: String) throws -> String {
        try withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            let count = readlink(link, start, buffer.count)
            guard count >= 0 else { throw FileFailure.last(link) }
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(count), as: UTF8.self)
        }
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
    }
}
