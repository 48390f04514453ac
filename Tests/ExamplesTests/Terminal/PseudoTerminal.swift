import Foundation
import Synchronization
import TestBackend

/// A program in a terminal, with a person who types and reads.
///
/// The terminal controls the program's session, so that the keys for signals work.
final class PseudoTerminal: Sendable {
    /// What was waited for did not appear.
    struct Waited: Error, CustomStringConvertible {
        let reason: String
        let lines: [String]
        var description: String { "\(reason); the screen:\n\(lines.joined(separator: "\n"))" }
    }

    private let master: Int32
    private let process: pid_t
    private let screen: Mutex<TerminalScreen>
    private let status = Mutex<Int32?>(nil)
    /// The longest time to wait for anything.
    private static let limit = Duration.seconds(60)

    /// Starts a program.
    /// - Parameters:
    ///   - variables: Added to the environment; an empty value removes a variable.
    ///   - columns: The width of the terminal.
    init(_ program: URL, _ arguments: [String], variables: [String: String] = [:], columns: Int = 100) throws {
        let name: String
        (master, name) = try Self.open()
        _ = fcntl(master, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            // The size belongs to the other side, which has to be open.
            let slave = Foundation.open(name, O_RDWR | O_NOCTTY)
            defer { close(slave) }
        #endif
        var size = winsize(ws_row: 40, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
        let own = ["TERM": "xterm", "NO_COLOR": "", "SWIFT_BACKTRACE": "enable=no"]
        let environment = ProcessInfo.processInfo.environment.merging(own) { $1 }.merging(variables) { $1 }
            .filter { !$0.value.isEmpty }.map { "\($0.key)=\($0.value)" }
        // The terminal that a session opens first controls it.
        process = try SpawnedProcess.start([program.path] + arguments, environment, inGroup: false) { actions in
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, name, O_RDWR, 0)
            for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
                posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, descriptor)
            }
        }
        screen = Mutex(TerminalScreen(columns: columns))
    }

    deinit {
        if status.withLock({ $0 == nil }) {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        close(master)
    }

    /// The rows of the screen.
    var lines: [String] { screen.withLock { $0.lines } }
    var isStyled: Bool { screen.withLock { $0.isStyled } }

    /// The rows that say something.
    var sentences: [String] { lines.filter { !$0.isEmpty } }

    /// Whether the terminal edits and shows lines by itself, as a shell expects it.
    var isCooked: Bool {
        var settings = termios()
        let wanted = tcflag_t(ICANON | ECHO | ISIG)
        return tcgetattr(master, &settings) == 0 && settings.c_lflag & wanted == wanted
    }

    func type(_ keys: String) {
        var bytes = Array(keys.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Waits until the screen fulfils a condition.
    func waits(_ what: String, until condition: @escaping @Sendable ([String]) -> Bool) async throws {
        try await SiblingProgram.onThread { [self] in
            let deadline = ContinuousClock.now + Self.limit
            while !condition(lines) {
                guard try read(until: deadline, for: what) else {
                    throw Waited(reason: "ended without \(what)", lines: lines)
                }
            }
        }
    }

    /// Waits until a row reads so.
    func waits(for line: String) async throws { try await waits("'\(line)'") { $0.contains(line) } }

    /// Waits until the last row is the prompt, with what is typed after it, and the rows before it end with these.
    func waits(forPrompt prompt: String, after rows: [String]) async throws {
        try await waits("'\(prompt)' after \(rows)") { $0.suffix(rows.count + 1) == rows[...] + [prompt] }
    }

    /// Waits until the program has ended.
    /// - Returns: The exit code, or 128 and the number of the signal that ended it.
    func ended() async throws -> Int32 {
        try await SiblingProgram.onThread { [self] in
            let deadline = ContinuousClock.now + Self.limit
            while try read(until: deadline, for: "end") {}
            return reap()
        }
    }

    /// Ends the program without a word, and returns when it is gone.
    func kills() async throws -> Int32 {
        if status.withLock({ $0 == nil }) { kill(process, SIGKILL) }
        return try await SiblingProgram.onThread { [self] in reap() }
    }

    private func reap() -> Int32 {
        status.withLock { status in
            if let status { return status }
            var result: Int32 = 0
            while waitpid(process, &result, 0) < 0 && errno == EINTR {}
            let code = result & 0x7F == 0 ? result >> 8 & 0xFF : 128 + result & 0x7F
            status = code
            return code
        }
    }

    /// Reads what the program writes.
    /// - Returns: Whether there may be more; false once the program has ended.
    /// - Throws: ``Waited`` after the deadline.
    private func read(until deadline: ContinuousClock.Instant, for what: String) throws -> Bool {
        while true {
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            guard left > 0 else { throw Waited(reason: "no \(what)", lines: lines) }
            var output = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard poll(&output, 1, Int32(left) + 1) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = Foundation.read(master, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            // Linux reports an error once the other side is gone.
            guard count > 0 else { return false }
            try screen.withLock { try $0.write(buffer.prefix(count)) }
            return true
        }
    }

    /// Opens a terminal.
    /// - Returns: The side of the person, and the path of the program's side.
    private static func open() throws -> (Int32, String) {
        #if canImport(Darwin)
            let master = try check(posix_openpt(O_RDWR | O_NOCTTY))
            try check(grantpt(master))
            try check(unlockpt(master))
            guard let name = ptsname(master) else { throw POSIXError(.ENOTTY) }
            return (master, String(cString: name))
        #else
            // What `unlockpt` and `ptsname` do. Glibc's module has neither, because it hides what is not standard C.
            let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
            let master = try check(Foundation.open("/dev/ptmx", O_RDWR | O_NOCTTY))
            var (lock, number): (Int32, Int32) = (0, 0)
            try check(ioctl(master, setLock, &lock))
            try check(ioctl(master, getNumber, &number))
            return (master, "/dev/pts/\(number)")
        #endif
    }

    @discardableResult
    private static func check(_ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return result
    }
}
