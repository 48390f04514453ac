public import FeathersSupport

// The printed and dumped forms of transports show the server, but no `auth`, header fields, or query.

extension SocketIOTransport: SecretHiding {
    public var description: String {
        "SocketIOTransport(\((try? socketClient.opener.get())?.address.place ?? "an unusable URL"))"
    }
}

extension SocketIOTransport.Options: SecretHiding {
    public var description: String {
        "SocketIOTransport.Options(path: \(path.debugDescription), namespace: \(namespace.debugDescription))"
    }
}
