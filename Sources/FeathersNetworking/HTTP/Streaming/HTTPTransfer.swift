public import Foundation

/// An exchange whose bodies stream: what is sent comes from files, what is received goes into one.
public struct HTTPTransfer: Sendable {
    /// The request; its own body is not looked at.
    public var request: HTTPRequest

    /// What is sent; nil for no body.
    public var body: HTTPBody?

    /// The file that becomes the body of a successful answer (200 to 299), in place of one that is there. The answer's body is empty then.
    ///
    /// It is written beside its place and moved there when complete: nobody ever sees half of it, and nothing stays behind after a failure.
    public var destination: URL?

    /// How long nothing at all may move, in place of ``HTTPRequest/timeout``, which bounds the whole; nil for as long as it takes.
    public var stallTimeout: Duration?

    /// Is told of everything that moved, often, and on the network's own thread: it must return at once.
    public var progress: (@Sendable (TransferProgress) -> Void)?

    /// A transfer; the parameters are the properties of the same names.
    public init(
        _ request: HTTPRequest, body: HTTPBody? = nil, destination: URL? = nil, stallTimeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.request = request
        self.body = body
        self.destination = destination
        self.stallTimeout = stallTimeout
        self.progress = progress
    }
}
