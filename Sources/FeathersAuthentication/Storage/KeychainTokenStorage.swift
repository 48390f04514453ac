#if canImport(Security)
    import FeathersCore
    import Foundation
    import Security

    /// Keeps tokens in the keychain of an Apple platform, as generic passwords.
    ///
    /// On macOS too, this is the data protection keychain. Only a program that is signed with an application identifier or a keychain access group can
    /// use it there. A bare command-line tool keeps its tokens in a ``FileTokenStorage``.
    public struct KeychainTokenStorage: TokenStorage {
        /// When the tokens can be read, as the keychain names it.
        public enum Accessibility: Sendable {
            /// From the first unlocking after the device started: for apps that work in the background.
            case afterFirstUnlock
            /// The same, and never on another device.
            case afterFirstUnlockThisDeviceOnly
            /// While the device is unlocked.
            case whenUnlocked
            /// The same, and never on another device.
            case whenUnlockedThisDeviceOnly

            fileprivate var value: CFString {
                switch self {
                case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
                case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
                case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
                }
            }
        }

        private let service: String
        private let accessGroup: String?
        private let accessibility: Accessibility

        /// Creates a storage in the keychain.
        /// - Parameters:
        ///   - service: the name that tells these passwords from others of the app (`kSecAttrService`).
        ///   - accessGroup: the group whose apps and extensions share the tokens; nil for the app's own.
        ///   - accessibility: when the tokens can be read.
        public init(
            service: String = "feathers-swift", accessGroup: String? = nil,
            accessibility: Accessibility = .afterFirstUnlockThisDeviceOnly
        ) { (self.service, self.accessGroup, self.accessibility) = (service, accessGroup, accessibility) }

        /// The token of a key; nil if none is stored.
        /// - Throws: ``FeathersError`` with the keychain's own words, for example while the device is locked.
        public func token(for key: String) async throws -> String? {
            var query = item(key)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            try check(status, "read", key)
            guard let data = found as? Data, let token = String(data: data, encoding: .utf8) else {
                throw FeathersError(.generalError, "What the keychain has for '\(key)' is not text")
            }
            return token
        }

        public func store(_ token: String, for key: String) async throws {
            let change: [String: Any] = [kSecValueData as String: Data(token.utf8), kSecAttrAccessible as String: accessibility.value]
            let status = SecItemUpdate(item(key) as CFDictionary, change as CFDictionary)
            guard status == errSecItemNotFound else { return try check(status, "written", key) }
            let added = SecItemAdd(item(key).merging(change) { $1 } as CFDictionary, nil)
            // Another process has added it meanwhile.
            guard added == errSecDuplicateItem else { return try check(added, "written", key) }
            try check(SecItemUpdate(item(key) as CFDictionary, change as CFDictionary), "written", key)
        }

        public func remove(for key: String) async throws {
            let status = SecItemDelete(item(key) as CFDictionary)
            if status != errSecItemNotFound { try check(status, "removed", key) }
        }

        private func item(_ key: String) -> [String: Any] {
            var item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: key,
                kSecUseDataProtectionKeychain as String: true,
            ]
            if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
            return item
        }

        private func check(_ status: OSStatus, _ what: String, _ key: String) throws {
            guard status != errSecSuccess else { return }
            let reason = SecCopyErrorMessageString(status, nil) as String? ?? "no reason"
            throw FeathersError(.generalError, "The keychain's entry '\(key)' cannot be \(what): \(reason) (\(status))")
        }
    }
#endif
