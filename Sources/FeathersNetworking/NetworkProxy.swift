/// Which proxy connections go through where libcurl makes them.
public enum NetworkProxy: Hashable, Sendable {
    /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` in the environment say, as libcurl reads them.
    case environment
    /// None, whatever the environment says.
    case none
    /// This one, whatever the environment says: `http://host:port`, also `https`, `socks5` or `socks5h`, credentials included.
    /// `exceptions` are hosts or domains that are reached directly.
    case url(String, exceptions: [String] = [])
}
