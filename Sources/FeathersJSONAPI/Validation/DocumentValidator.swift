import FeathersCore

/// Collects what breaks the specification; this part knows the top level and the members all objects share.
struct DocumentValidator {
    let role: JSONAPIDocument.Role
    private(set) var violations: [JSONAPIError] = []

    init(role: JSONAPIDocument.Role) {
        self.role = role
    }

    mutating func report(_ pointer: JSONPointer, _ message: String) {
        violations.append(JSONAPIError(pointer, message))
    }

    mutating func checkDocument(_ json: JSONValue) {
        guard case .object(let document) = json else {
            report(.root, "A document must be an object")
            return
        }
        checkMembers(of: document, at: .root, "a document", known: ["data", "errors", "meta", "jsonapi", "links", "included"])
        if document["data"] == nil, document["errors"] == nil, document["meta"] == nil,
            !document.contains(where: { MemberName.isExtension($0.key) })
        {
            report(.root, "A document must have 'data', 'errors', 'meta' or a member of an extension")
        }
        if document["data"] != nil, document["errors"] != nil {
            report(JSONPointer.root.appending("errors"), "'data' and 'errors' must not stand in the same document")
        }
        if document["included"] != nil, document["data"] == nil {
            report(JSONPointer.root.appending("included"), "'included' must not stand in a document without 'data'")
        }
        if let data = document["data"] { checkData(data, at: JSONPointer.root.appending("data")) }
        if let included = document["included"] { checkIncluded(included, at: JSONPointer.root.appending("included")) }
        if let errors = document["errors"] { checkErrors(errors, at: JSONPointer.root.appending("errors")) }
        checkCommon(document, at: .root, linkNames: ["self", "related", "describedby", "first", "last", "prev", "next"])
        if let jsonapi = document["jsonapi"] { checkImplementation(jsonapi, at: JSONPointer.root.appending("jsonapi")) }
        checkAtomicMembers(of: document)
        checkCompound(document)
    }

    /// Checks an object's `links` and `meta`.
    mutating func checkCommon(_ object: JSONObject, at pointer: JSONPointer, linkNames: Set<String>? = nil) {
        if let links = object["links"] { checkLinks(links, at: pointer.appending("links"), names: linkNames) }
        if let meta = object["meta"] { checkMeta(meta, at: pointer.appending("meta")) }
    }

    mutating func checkMeta(_ json: JSONValue, at pointer: JSONPointer) {
        guard let meta = json.object else {
            report(pointer, "'meta' must be an object")
            return
        }
        for name in meta.keys { checkName(name, at: pointer.appending(name)) }
    }

    /// Reports members the specification does not have, extensions' and those to be ignored aside.
    mutating func checkMembers(of object: JSONObject, at pointer: JSONPointer, _ what: String, known: Set<String>) {
        for name in object.keys where !known.contains(name) && !MemberName.isExtension(name) && !MemberName.isAtMember(name) {
            report(pointer.appending(name), "'\(name)' is no member of \(what)")
        }
    }

    mutating func checkName(_ name: String, at pointer: JSONPointer) {
        guard !MemberName.isAtMember(name), !MemberName.isExtension(name), !MemberName.isAllowed(name) else { return }
        report(pointer, "'\(name)' is no name a member may have")
    }

    /// Checks that a member, where it is present, is a string.
    mutating func checkString(_ name: String, of object: JSONObject, at pointer: JSONPointer) {
        guard let value = object[name], value.string == nil else { return }
        report(pointer.appending(name), "'\(name)' must be a string")
    }

    private mutating func checkImplementation(_ json: JSONValue, at pointer: JSONPointer) {
        guard let object = json.object else {
            report(pointer, "'jsonapi' must be an object")
            return
        }
        checkMembers(of: object, at: pointer, "'jsonapi'", known: ["version", "ext", "profile", "meta"])
        checkString("version", of: object, at: pointer)
        for name in ["ext", "profile"] {
            guard let list = object[name] else { continue }
            if list.array?.allSatisfy({ $0.string != nil }) != true {
                report(pointer.appending(name), "'\(name)' must be an array of addresses")
            }
        }
        checkCommon(object, at: pointer)
    }
}
