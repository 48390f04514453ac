import FeathersCore

/// Links and errors.
extension DocumentValidator {
    /// - Parameter names: the names links may have here; nil for any.
    mutating func checkLinks(_ json: JSONValue, at pointer: JSONPointer, names: Set<String>?) {
        guard let links = json.object else {
            report(pointer, "'links' must be an object")
            return
        }
        if let names { checkMembers(of: links, at: pointer, "these links", known: names) }
        for (name, link) in links where !MemberName.isAtMember(name) { checkLink(link, at: pointer.appending(name)) }
    }

    private mutating func checkLink(_ json: JSONValue, at pointer: JSONPointer) {
        switch json {
        case .null, .string: break
        case .object(let link):
            checkMembers(
                of: link, at: pointer, "a link", known: ["href", "rel", "describedby", "title", "type", "hreflang", "meta"])
            if link["href"] == nil { report(pointer.appending("href"), "'href' is missing") }
            for name in ["href", "rel", "title", "type"] { checkString(name, of: link, at: pointer) }
            if let description = link["describedby"] { checkLink(description, at: pointer.appending("describedby")) }
            if let languages = link["hreflang"], languages.string == nil, languages.array?.allSatisfy({ $0.string != nil }) != true {
                report(pointer.appending("hreflang"), "'hreflang' must be a string or an array of strings")
            }
            if let meta = link["meta"] { checkMeta(meta, at: pointer.appending("meta")) }
        default: report(pointer, "A link must be a string, an object or null")
        }
    }

    mutating func checkErrors(_ json: JSONValue, at pointer: JSONPointer) {
        guard let errors = json.array else {
            report(pointer, "'errors' must be an array")
            return
        }
        for (index, error) in errors.enumerated() { checkError(error, at: pointer.appending(index)) }
    }

    private mutating func checkError(_ json: JSONValue, at pointer: JSONPointer) {
        guard let error = json.object else {
            report(pointer, "An error must be an object")
            return
        }
        let known: Set<String> = ["id", "links", "status", "code", "title", "detail", "source", "meta"]
        checkMembers(of: error, at: pointer, "an error", known: known)
        if !error.contains(where: { known.contains($0.key) }) { report(pointer, "An error must say something") }
        for name in ["id", "status", "code", "title", "detail"] { checkString(name, of: error, at: pointer) }
        checkCommon(error, at: pointer, linkNames: ["about", "type"])
        guard let json = error["source"] else { return }
        let place = pointer.appending("source")
        guard let source = json.object else {
            report(place, "'source' must be an object")
            return
        }
        for name in ["pointer", "parameter", "header"] { checkString(name, of: source, at: place) }
        if let text = source["pointer"]?.string, JSONPointer(text) == nil {
            report(place.appending("pointer"), "'pointer' must be a JSON Pointer")
        }
    }
}
