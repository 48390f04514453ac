public import FeathersSupport

// Printing or dumping these types omits the received calls and their header fields.

extension StubTransport: SecretHiding {}
extension StubRealTimeTransport: SecretHiding {}
extension StubHTTPClient: SecretHiding {}
