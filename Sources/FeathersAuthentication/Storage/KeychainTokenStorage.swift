#if canImport(Security)
    import FeathersCore
    import Foundation
    import Security

    /// A storage that keeps tokens in the keychain of an Apple platform, as generic passwords.
    ///
    /// On macOS too, this is the data protection keychain. There, only programs signed with an application identifier
    /// or a keychain access group can use it. For a plain command-line tool, use ``FileTokenStorage``.
    public struct KeychainTokenStorage: TokenStorage {
        /// When the tokens can be read, in the keychain's terms.
        public enum Accessibility: Sendable {
            /// After the first unlock since the device started. Use it for apps that work in the background.
            case afterFirstUnlock
            /// After the first unlock since the device started, and never on another device.
            case afterFirstUnlockThisDeviceOnly
            /// While the device is unlocked.
            case whenUnlocked
            /// While the device is unlocked, and never on another device.
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
        ///   - service: The name that distinguishes these passwords from the app's other passwords (`kSecAttrService`).
        ///   - accessGroup: The group whose apps and extensions share the tokens; nil for the app's own.
        ///   - accessibility: When the tokens can be read.
        public init(
            service: String = "feathers-swift", accessGroup: String? = nil,
            accessibility: Accessibility = .afterFirstUnlockThisDeviceOnly
        ) { (self.service, self.accessGroup, self.accessibility) = (service, accessGroup, accessibility) }

        /// Returns the token of a key; nil if none is stored.
        /// - Throws: ``FeathersError`` with the keychain's error message, for example while the device is locked.
        public func token(for key: String) async throws -> String? {
            var query = item(key)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            try check(status, "read", key)
            guard let data = found as? Data, let token = String(data: data, encoding: .utf8) else {
                throw FeathersError(.generalError, "The keychain's entry '\(key)' cannot be read: it is not text")
            }
            return token
        }

        public func store(_ token: String, for key: String) async throws {
            let change: [String: Any] = [
                kSecValueData as String: Data(token.utf8), kSecAttrAccessible as String: accessibility.value,
            ]
            let status = SecItemUpdate(item(key) as CFDictionary, change as CFDictionary)
            guard status == errSecItemNotFound else { return try check(status, "written", key) }
            let added = SecItemAdd(item(key).merging(change) { $1 } as CFDictionary, nil)
            // Another process has added the entry in the meantime.
            guard added == errSecDuplicateItem else { return try check(added, "written", key) }
            try check(SecItemUpdate(item(key) as CFDictionary, change as CFDictionary), "written", key)
        }

        public func remove(for key: String) async throws {
            let status = SecItemDelete(item(key) as CFDictionary)
            if status != errSecItemNotFound { try check(status, "removed", key) }
        }

        private func item(_ key: String) -> [String: Any] {
            var item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecAttrAccount as String: key,
                kSecUseDataProtectionKeychain as String: true,
            ]
            if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
            return item
        }

        private func check(_ status: OSStatus, _ what: String, _ key: String) throws {
            guard status != errSecSuccess else { return }
            let reason = SecCopyErrorMessageString(status, nil) as String? ?? "unknown reason"
            throw FeathersError(.generalError, "The keychain's entry '\(key)' cannot be \(what): \(reason) (\(status))")
        }
    }
#endif
