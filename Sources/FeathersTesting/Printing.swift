public import FeathersSupport

// The calls that have come, and their header fields, are not printed or dumped with whom they came to.

extension StubTransport: SecretHiding {}
extension StubRealTimeTransport: SecretHiding {}
extension StubHTTPClient: SecretHiding {}
