import FeathersCore
import Testing

@Suite("Entity tags of responses")
struct EntityTagTests {
    @Test(
        "are sent back as they came if they are one tag",
        arguments: [
            #""a""#, #""""#, #"W/"a""#, "abc123", "W/abc", #""a b, c""#, #""é*""#,
            "\"\(String(repeating: "x", count: 1000))\"",
        ])
    func tags(field: String) {
        #expect(EntityTag.checked(field) == field)
    }

    @Test(
        "are none if they would break a request, or be another condition",
        arguments: [
            nil, "", "W/", "*", "W/*", #""a", "b""#, #""a" "b""#, "a, b", "a b", #"""#, #"a"b"#, "\"a\nb\"",
            "\"a\u{0}\"",
            "\"\u{7F}\"", "\"\t\"", "\"a\r\nX-Admin: 1\"", "\"\(String(repeating: "x", count: 1023))\"",
        ] as [String?])
    func others(field: String?) {
        #expect(EntityTag.checked(field) == nil)
    }
}
