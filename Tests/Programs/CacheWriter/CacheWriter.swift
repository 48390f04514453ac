package import FeathersCaching
import FeathersCore
import Foundation

/// Writes into a disk cache until it is killed, or its parent is gone: `CacheWriter DIRECTORY BYTE-LIMIT PARENT`.
///
/// Whether an answer is whole, anybody can tell by looking at it: see ``WrittenAnswer``.
@main
struct CacheWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let limit = Int(arguments[2]), let parent = pid_t(arguments[3]) else { exit(64) }
        let storage = DiskCacheStorage(
            directory: URL(filePath: arguments[1], directoryHint: .isDirectory), byteLimit: limit)
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        while getppid() == parent {
            let number = Int.random(in: 0..<WrittenAnswer.count)
            switch Int.random(in: 0..<20) {
            case 0: try await storage.remove(WrittenAnswer.key(number))
            case 1: try await storage.remove(group: WrittenAnswer.key(number).group)
            default:
                try await storage.set(
                    WrittenAnswer.entry(number, length: .random(in: 0..<4000)), for: WrittenAnswer.key(number))
            }
        }
    }
}

/// The answers the writer writes: each repeats its own number as often as it says.
package enum WrittenAnswer {
    package static let count = 40

    package static func key(_ number: Int) -> CacheKey {
        CacheKey(text: "answer \(number)", group: "group \(number % 4)")
    }

    static func entry(_ number: Int, length: Int) -> CacheEntry {
        let numbers = [JSONValue](repeating: .integer(Int64(number)), count: length)
        return CacheEntry(value: [
            "number": .integer(Int64(number)), "length": .integer(Int64(length)), "numbers": .array(numbers),
        ])
    }

    /// Whether an answer is one that was written for this number.
    package static func isWhole(_ entry: CacheEntry, _ number: Int) -> Bool {
        guard let length = entry.value["length"]?.integer else { return false }
        return entry == Self.entry(number, length: Int(length))
    }
}
