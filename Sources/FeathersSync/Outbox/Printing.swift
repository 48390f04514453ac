public import FeathersSupport

// Writes of all users, and state of the disk's thread, are not printed or dumped.

extension Outbox: SecretHiding {}
