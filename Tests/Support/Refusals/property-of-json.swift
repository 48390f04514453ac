// expect: value of type 'JSONValue' has no member 'text'
// article: Mistakes.md
// mistake: A property of JSON, as in JavaScript
import Feathers

func text(of message: JSONValue) -> String? {
    // fix: message["text"]?.string
    message.text
}
