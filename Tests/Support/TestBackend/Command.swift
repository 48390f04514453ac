import Foundation

/// A program run to its end, for at most so long.
struct Command {
    let executable: String
    let arguments: [String]
    let limit: TimeInterval

    enum Outcome {
        case succeeded
        case failed(lastLine: String)
        case notRunnable
    }

    func run() -> Outcome {
        #if os(macOS) || os(Linux)
            let process = ChildProcess()
            let errors = Pipe()
            process.executableURL = URL(filePath: executable)
            process.arguments = arguments
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = errors
            let ended = DispatchSemaphore(value: 0)
            process.terminationHandler = { _ in ended.signal() }
            guard (try? process.run()) != nil else { return .notRunnable }
            let watchdog = Watchdog(after: limit, process: process.processIdentifier)
            defer { watchdog.cancel() }
            let output = (try? errors.fileHandleForReading.bytesToEnd()) ?? Data()
            ended.wait()
            if process.terminationStatus == 0 { return .succeeded }
            if watchdog.hasFired { return .failed(lastLine: "no end after \(Int(limit)) seconds") }
            let lines = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline)
            return .failed(lastLine: lines.last.map(String.init) ?? "exit code \(process.terminationStatus)")
        #else
            return .notRunnable
        #endif
    }
}
