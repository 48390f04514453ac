public import FeathersSupport

// Hides all users' writes, and the state of the disk's thread, from printing and dumping.

extension Outbox: SecretHiding {}
