/// Why there is no server to test against, in one sentence that says what to do.
public struct BackendUnavailable: Error, CustomStringConvertible {
    public let description: String

    package static let python = BackendUnavailable(
        description: "The integration tests need Python 3.9 or later with venv: install it "
            + "(Debian: apt-get install python3-venv) or set FEATHERS_SKIP_INTEGRATION=1 to skip them."
    )

    static func packages(_ reason: String) -> BackendUnavailable {
        BackendUnavailable(
            description:
                "The integration tests could not install the packages of Tests/Support/Backend/requirements.txt "
                + "(\(reason)): make them installable or set FEATHERS_SKIP_INTEGRATION=1 to skip them."
        )
    }

    static let certificate = BackendUnavailable(
        description: "The integration tests of TLS need the openssl command to make a certificate: install it "
            + "or set FEATHERS_SKIP_INTEGRATION=1 to skip them."
    )

    static let redis = BackendUnavailable(
        description: "The tests of several nodes need redis-server: install it (Debian: apt-get install redis-server) "
            + "or set FEATHERS_SKIP_INTEGRATION=1 to skip them."
    )

    static func start(_ reason: String) -> BackendUnavailable {
        BackendUnavailable(
            description:
                "The server of the integration tests did not start (\(reason)): run Tests/Support/Backend/server.py by hand "
                + "to see why or set FEATHERS_SKIP_INTEGRATION=1 to skip them."
        )
    }
}
