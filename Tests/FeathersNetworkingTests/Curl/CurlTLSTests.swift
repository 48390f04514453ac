#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite("TLS over libcurl", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
    struct CurlTLSTests {
        private func client(_ trust: TLSConfiguration.Trust, _ verification: TLSConfiguration.Verification = .full)
            throws -> CurlHTTPClient
        {
            try CurlHTTPClient(tls: TLSConfiguration(trust: trust, verification: verification))
        }

        @Test("trusts the authorities of a file, and goes on with the connection")
        func customAuthority() async throws {
            let server = try await TestBackend.secureScriptServer()
            let script = try await ServerScript(ScriptedResponse(body: "secret"))
            let client = try client(.certificates(in: server.certificate))
            for _ in 1...3 {
                let response = try await client.execute(
                    HTTPRequest(url: try await script.secureURL(), timeout: .seconds(20)))
                #expect(response.body == Array("secret".utf8))
            }
            #expect(Set(try await script.requests().map(\.connection)).count == 1)
        }

        @Test("says what is wrong with a self-signed certificate")
        func clearError() async throws {
            let server = try await TestBackend.secureScriptServer()
            let error = try await CurlHTTPClient().failure(HTTPRequest(url: server.url, timeout: .seconds(20)))
            #expect(error.message.hasPrefix("The server's certificate was rejected: "))
            #expect(error.message.lowercased().contains("self") && error.message.lowercased().contains("signed"))
        }

        @Test("refuses a certificate for another host")
        func wrongHostName() async throws {
            let server = try await TestBackend.secureScriptServer()
            let client = try client(.certificates(in: server.certificate))
            let error = try await client.failure(HTTPRequest(url: server.misnamedURL, timeout: .seconds(20)))
            #expect(error.kind == .tls)
            #expect(error.delivery == .neverSent)
        }

        @Test("does without the host's name, or without any check, only where told so")
        func switchedOff() async throws {
            let server = try await TestBackend.secureScriptServer()
            let request = HTTPRequest(url: server.misnamedURL, timeout: .seconds(20))
            #expect(
                try await client(.certificates(in: server.certificate), .dangerouslyIgnoringHostName).execute(request)
                    .status == 599)
            #expect(try await client(.system, .dangerouslyOff).execute(request).status == 599)
            let error = try await client(.system, .dangerouslyIgnoringHostName).failure(request)
            #expect(error.kind == .tls)
        }

        @Test("says when the file of authorities cannot be read")
        func missingFile() async throws {
            let server = try await TestBackend.secureScriptServer()
            let client = try client(.certificates(in: URL(filePath: "/nowhere/authorities.pem")))
            let error = try await client.failure(HTTPRequest(url: server.url, timeout: .seconds(20)))
            #expect(error.kind == .tls)
            #expect(error.message == "The trusted certificates could not be read")
            #expect(error.delivery == .neverSent)
        }

        @Test("takes the system's authorities from a variable's file before it searches")
        func systemTrust() async throws {
            let server = try await TestBackend.secureScriptServer()
            let file = server.certificate.path
            #expect(SystemTrust.search(environment: ["SSL_CERT_FILE": file]) == .file(file))
            #expect(SystemTrust.search(environment: ["URLSessionCertificateAuthorityInfoFile": file]) == .file(file))
            let unswayed = SystemTrust.search(environment: [:])
            #expect(SystemTrust.search(environment: ["SSL_CERT_FILE": "/nowhere"]) == unswayed)
            #expect(
                SystemTrust.search(environment: ["URLSessionCertificateAuthorityInfoFile": "INSECURE_SSL_NO_VERIFY"])
                    == unswayed)
            #expect(!SystemTrust.isHashed("/nowhere") && !SystemTrust.isHashed("/etc"))
        }
    }
#endif
