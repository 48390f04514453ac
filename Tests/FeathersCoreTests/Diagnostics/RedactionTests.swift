import FeathersCore
import Testing

@Suite("Redaction")
struct RedactionTests {
    @Test(
        "knows secret names, however they are written",
        arguments: [
            ("password", true), ("newPassword", true), ("PASSWORD", true), ("access_token", true),
            ("refreshToken", true),
            ("user.resetToken", true), ("Authorization", true), ("Proxy-Authorization", true), ("Set-Cookie", true),
            ("cookie", true),
            ("X-API-Key", true), ("apiKey", true), ("client_secret", true), ("private-key", true),
            ("credentials", true), ("jwt", true),
            ("text", false), ("author", false), ("id", false), ("pass", false), ("$or", false), ("", false),
        ])
    func names(_ name: String, isSensitive: Bool) {
        #expect(Redaction().isSensitive(name) == isSensitive)
    }

    @Test("replaces values at any depth, whole objects included, and keeps the rest in its order")
    func values() {
        let value: JSONValue = [
            "b": [["token": ["$ne": nil], "n": 1]], "a": ["secret": [1, 2]], "t": "Basic dXNlcjpwYXNz and more",
        ]
        #expect(
            Redaction().redact(value).description
                == #"{"b":[{"token":"<redacted>","n":1}],"a":{"secret":"<redacted>"},"t":"Basic <redacted> and more"}"#)
    }

    @Test(
        "finds tokens in texts",
        arguments: [
            ("nothing to see", "nothing to see"), ("", ""), ("bearer abc.def-ghi", "bearer <redacted>"),
            ("Authorization: Bearer  abc, next", "Authorization: Bearer  <redacted>, next"),
            ("the Bearer", "the Bearer"),
            ("(eyJhbGci.eyJzdWIi.c2ln)", "(<redacted>)"), ("key=eyJhbGci.eyJzdWIi.c2ln", "<redacted>"),
            ("eyJ.", "eyJ."),
            ("a basic: rule", "a basic: rule"), ("BASIC Zm9v", "BASIC <redacted>"),
            ("at https://me:p@ss@host:1/a@b, wss://t@h", "at https://<redacted>@host:1/a@b, wss://<redacted>@h"),
            ("http://host/a@b?c=d@e and me@host", "http://host/a@b?c=d@e and me@host"),
        ])
    func texts(_ text: String, _ redacted: String) {
        #expect(Redaction().redact(text: text) == redacted)
    }

    @Test("goes by words of one's own")
    func words() {
        let redaction = Redaction(words: ["iban"])
        #expect(
            redaction.redact(["iBan": "DE00", "password": "p"]) == ["iBan": "<redacted>", "password": "p"] as JSONObject
        )
    }
}
