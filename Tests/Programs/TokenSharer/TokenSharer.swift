import Feathers
import Foundation

/// Signs in with the tokens that it shares with other processes, and makes calls until it is killed, or its parent is
/// gone: `TokenSharer FOLDER URL NAME locked|unlocked PARENT`.
///
/// It sends its name with each refresh. `unlocked` refreshes without the lock. It ends only if it can no longer make
/// calls: with 1 if it is signed out, with 2 after any other error.
@main
struct TokenSharer {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let url = URL(string: arguments[2]), let parent = pid_t(arguments[5]) else {
            exit(64)
        }
        let files = FileTokenStorage(directory: URL(filePath: arguments[1], directoryHint: .isDirectory))
        let storage: any TokenStorage = arguments[4] == "locked" ? files : Unlocked(files: files)
        let refresh = TokenRefresh.service("refresh-tokens", fields: ["process": .string(arguments[3])])
        let app = FeathersApp(transport: .rest(url))
        do {
            try app.use(authentication: AuthenticationOptions(storage: storage, refresh: refresh))
            try await app.reauthenticate()
            while getppid() == parent {
                do {
                    _ = try await app.service("messages").find()
                } catch FeathersError.Code.notAuthenticated where app.authentication.result != nil {
                    // The others have used up the renewed token.
                }
            }
        } catch {
            FileHandle.standardError.write(Data("TokenSharer \(arguments[3]): \(error)\n".utf8))
            exit(app.authentication.result == nil ? 1 : 2)
        }
    }
}

/// A storage that cannot be locked, as the keychain.
private struct Unlocked: TokenStorage {
    let files: FileTokenStorage

    func token(for key: String) async throws -> String? { try await files.token(for: key) }
    func store(_ token: String, for key: String) async throws { try await files.store(token, for: key) }
    func remove(for key: String) async throws { try await files.remove(for: key) }
    func replace(_ expected: String?, with token: String?, for key: String) async throws -> Bool {
        try await files.replace(expected, with: token, for: key)
    }
}
