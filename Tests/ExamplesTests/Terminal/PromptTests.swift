import Testing

@testable import ExampleProgram

@Suite("The line that is typed in a terminal")
struct PromptTests {
    private func typed(_ text: String) -> (prompt: Prompt, input: [Prompt.Input]) {
        var prompt = Prompt(isEdited: true)
        prompt.label = "> "
        let input = prompt.take(text.utf8)
        return (prompt, input)
    }

    @Test(
        "Keys edit the line",
        arguments: [
            ("abc\u{7F}", "ab"), ("\u{7F}a", "a"), ("aé😀\u{8}", "aé"), ("one two \u{17}", "one "), ("one\u{15}x", "x"),
            ("a\tb", "a b"), ("a\u{1B}[Ab", "ab"), ("a\u{1B}OAb", "ab"), ("a\u{1B}[1;5Cb", "ab"), ("a\u{7}b", "ab"),
            ("a\u{4}b", "ab"), ("e\u{301}x\u{7F}\u{7F}", ""),
        ])
    func edits(_ keys: String, _ line: String) { #expect(typed(keys).prompt.typed == line) }

    @Test("A key ends the line, and ^D on an empty one the input")
    func ends() {
        let (prompt, input) = typed("one\n\ntwo\n\u{4}")
        #expect(input == [.line("one"), .line(""), .line("two"), .end] && prompt.typed.isEmpty)
    }

    @Test("Lines of a file are taken as they are, whatever pieces they come in, and the last one needs no end")
    func pieces() {
        for count in 1...7 {
            var prompt = Prompt(isEdited: false)
            var input: [Prompt.Input] = []
            var rest = Array("one\n\ntw\u{1B}[A\u{7F}ö😀\nläst".utf8)[...]
            while !rest.isEmpty {
                input += prompt.take(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(input == [.line("one"), .line(""), .line("tw\u{1B}[A\u{7F}ö😀")])
            #expect(prompt.takeEnd() == .line("läst"))
            #expect(prompt.takeEnd() == nil)
        }
    }

    @Test("Bytes that are no text do not harm what follows")
    func damaged() {
        var prompt = Prompt(isEdited: true)
        #expect(
            prompt.take([0xFF, 0xC3, UInt8(ascii: "a"), 0xE2, 0x82, UInt8(ascii: "\n")])
                == [.line("\u{FFFD}\u{FFFD}a\u{FFFD}")])
    }

    @Test("Of a long line, the end is visible; of a password, nothing")
    func visible() {
        var (prompt, _) = typed("abcdefghij")
        #expect(prompt.visible(columns: 20) == "abcdefghij" && prompt.visible(columns: 8) == "fghij")
        #expect(prompt.visible(columns: 1) == "")
        #expect(typed("日本語").prompt.visible(columns: 8) == "本語")
        prompt.isSecret = true
        #expect(prompt.visible(columns: 20) == "")
        #expect(prompt.take([UInt8(ascii: "\n")]) == [.line("abcdefghij")] && !prompt.isSecret)
    }

    @Test("Text from elsewhere stays on its line and controls nothing")
    func printable() {
        #expect(ExampleProgram.printable("a\nb\tc\u{1B}[2J\u{9B}\u{202E}é😀") == "a b c�[2J��é😀")
    }
}
