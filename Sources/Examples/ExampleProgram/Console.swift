import Foundation
import Synchronization

/// The place where a program shows text while lines are typed: a terminal, or the files and pipes that replace it.
///
/// In a terminal, text appears above the line that is being typed, which stays whole.
public final class Console: Sendable {
    /// The lines that are typed, for one reader at a time. Ends with the input.
    public let lines: AsyncStream<String>
    /// Whether both standard input and standard output are a terminal.
    public let isTerminal: Bool

    private let continuation: AsyncStream<String>.Continuation
    private let state: Mutex<Prompt>
    /// Returns the cursor to the beginning of the line and erases the line.
    private static let erased = "\r\u{1B}[K"

    /// Reads standard input on a thread of its own, which waits for each key and ends with the input.
    ///
    /// A dispatch source needs no thread, but on Linux libdispatch may use it after it is freed if it is cancelled when
    /// its pipe ends (swiftlang/swift-corelibs-libdispatch#949).
    public init() {
        (lines, continuation) = AsyncStream.makeStream(of: String.self)
        isTerminal =
            isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
            && ProcessInfo.processInfo.environment["TERM"] != "dumb"
        state = Mutex(Prompt(isEdited: isTerminal))
        if isTerminal { Self.readKeys() }
        Thread.detachNewThread { [self] in read() }
    }

    /// Shows a line of text.
    public func show(_ text: String) { draw("\(text)\n") }

    /// Shows a text in place of everything that was shown before. In a file or a pipe, the texts follow each other.
    public func replace(with text: String) { draw(isTerminal ? "\u{1B}[H\u{1B}[2J\(text)\n" : "\(text)\n") }

    /// Shows what is wrong with a line: in a terminal above the next one, otherwise on standard error.
    public func complain(_ text: String) {
        if isTerminal { show(ExampleProgram.styled(text, .red)) } else { ExampleProgram.complain(text) }
    }

    /// Shows a label, and after it the line that is being typed from now on. Files and pipes need no label.
    public func prompt(_ label: String) {
        guard isTerminal else { return }
        state.withLock {
            $0.label = label
            ExampleProgram.write(line(of: $0))
        }
    }

    /// Asks for a line that is not shown while it is typed.
    /// - Returns: The line; nil if the input has ended.
    public func secret(_ question: String) async -> String? {
        state.withLock {
            ($0.label, $0.isSecret) = (question, true)
            ExampleProgram.write(question)
        }
        var answer: String?
        for await line in lines {
            answer = line
            break
        }
        state.withLock { ($0.label, $0.isSecret) = (nil, false) }
        ExampleProgram.write("\n")
        return answer
    }

    // Text is written within the lock, so that the terminal shows it in the order in which the prompt has changed.

    private func draw(_ text: String) {
        state.withLock { prompt in
            ExampleProgram.write(prompt.label == nil ? text : Self.erased + text + line(of: prompt))
        }
    }

    private func line(of prompt: Prompt) -> String {
        guard let label = prompt.label else { return "" }
        return Self.erased + ExampleProgram.styled(label, .dim) + prompt.visible(columns: Self.columns)
    }

    private func take(_ bytes: some Sequence<UInt8>) -> [Prompt.Input] {
        state.withLock { prompt in
            let input = prompt.take(bytes)
            if isTerminal, !prompt.isSecret { ExampleProgram.write(line(of: prompt)) }
            return input
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        reading: while true {
            // Another program may have set the terminal not to block.
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            _ = poll(&input, 1, -1)
            let count = Foundation.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && (errno == EAGAIN || errno == EINTR) { continue }
            guard count > 0 else { break }
            for input in take(buffer.prefix(count)) {
                guard case .line(let line) = input else { break reading }
                continuation.yield(line)
            }
        }
        if case .line(let line)? = state.withLock({ $0.takeEnd() }) { continuation.yield(line) }
        continuation.finish()
    }

    private static var columns: Int {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }

    /// The settings of the terminal before this program changed them.
    private static let settings = Mutex<termios?>(nil)

    /// Makes the terminal deliver each key, without showing it.
    private static func readKeys() {
        settings.withLock { settings in
            var before = termios()
            guard settings == nil, tcgetattr(STDIN_FILENO, &before) == 0 else { return }
            settings = before
            before.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
            tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
            // However the program ends, the shell gets its terminal back.
            atexit { Console.restoreTerminal() }
        }
    }

    /// Gives the terminal its settings back, and the cursor a line of its own. Does nothing if they were not changed.
    static func restoreTerminal() {
        settings.withLock { settings in
            guard var before = settings else { return }
            ExampleProgram.write(erased)
            tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
            settings = nil
        }
    }
}
