import FeathersCore

struct DocumentValidator {
    private var role: JSONAPIDocument.Role
    private(set) var violations: [JSONAPIError] = []

    init(role: JSONAPIDocument.Role) { self.role = role }

    mutating func checkDocument(_ json: JSONValue) {
        guard let document = object(json, at: .root, "A document") else { return }
        checkMembers(of: document, at: .root, "a document", known: ["data", "errors", "meta", "jsonapi", "links", "included"])
        if !document.contains(where: { ["data", "errors", "meta"].contains($0.key) || MemberName.isExtension($0.key) }) {
            report(.root, "A document must have 'data', 'errors', 'meta', or a member of an extension")
        }
        let errors = JSONPointer.root.appending("errors")
        if document["data"] != nil, document["errors"] != nil {
            report(errors, "'data' and 'errors' must not appear in the same document")
        }
        if document["included"] != nil, document["data"] == nil {
            report(.included, "'included' must not appear in a document without 'data'")
        }
        if let data = document["data"] {
            checkData(data, at: .data)
        } else if role.needsData, document["atomic:operations"] == nil {
            report(.data, "The request must have 'data'")
        }
        for (pointer, resource) in array(document["included"], at: .included, "'included'") {
            checkResource(resource, at: pointer, mayBeNew: false)
        }
        for (pointer, error) in array(document["errors"], at: errors, "'errors'") { checkError(error, at: pointer) }
        checkCommon(document, at: .root, linkNames: ["self", "related", "describedby", "first", "last", "prev", "next"])
        if let jsonapi = document["jsonapi"] { checkImplementation(jsonapi, at: JSONPointer.root.appending("jsonapi")) }
        checkAtomicMembers(of: document)
        checkCompound(document)
    }

    // MARK: Members of all objects

    private mutating func report(_ pointer: JSONPointer, _ message: String) {
        violations.append(JSONAPIError(pointer, message))
    }

    /// Returns the value as an object, or reports it if it is not an object.
    private mutating func object(_ json: JSONValue, at pointer: JSONPointer, _ what: String) -> JSONObject? {
        if json.object == nil { report(pointer, "\(what) must be an object") }
        return json.object
    }

    /// Returns the elements of an array with their locations, or reports a value that is not an array.
    private mutating func array(_ json: JSONValue?, at pointer: JSONPointer, _ what: String) -> [(JSONPointer, JSONValue)] {
        guard let json else { return [] }
        if json.array == nil { report(pointer, "\(what) must be an array") }
        return (json.array ?? []).enumerated().map { (pointer.appending($0), $1) }
    }

    private mutating func checkCommon(_ object: JSONObject, at pointer: JSONPointer, linkNames: Set<String>? = nil) {
        if let links = object["links"] { checkLinks(links, at: pointer.appending("links"), names: linkNames) }
        if let meta = object["meta"] { checkMeta(meta, at: pointer.appending("meta")) }
    }

    private mutating func checkMeta(_ json: JSONValue, at pointer: JSONPointer) {
        guard let meta = object(json, at: pointer, "'meta'") else { return }
        for name in meta.keys { checkName(name, at: pointer.appending(name)) }
    }

    /// Reports unknown members, except for those of extensions and those that readers ignore.
    private mutating func checkMembers(of object: JSONObject, at pointer: JSONPointer, _ what: String, known: Set<String>) {
        for name in object.keys where !known.contains(name) && !MemberName.isExtension(name) && !MemberName.isAtMember(name) {
            report(pointer.appending(name), "'\(name)' is not a member of \(what)")
        }
    }

    private mutating func checkName(_ name: String, at pointer: JSONPointer) {
        guard !MemberName.isAtMember(name), !MemberName.isExtension(name), !MemberName.isAllowed(name) else { return }
        report(pointer, "'\(name)' is not a valid member name")
    }

    private mutating func checkStrings(_ names: String..., of object: JSONObject, at pointer: JSONPointer) {
        for name in names {
            if let value = object[name], value.string == nil { report(pointer.appending(name), "'\(name)' must be a string") }
        }
    }

    private mutating func checkImplementation(_ json: JSONValue, at pointer: JSONPointer) {
        guard let object = object(json, at: pointer, "'jsonapi'") else { return }
        checkMembers(of: object, at: pointer, "'jsonapi'", known: ["version", "ext", "profile", "meta"])
        checkStrings("version", of: object, at: pointer)
        for name in ["ext", "profile"] {
            guard let json = object[name] else { continue }
            for (pointer, uri) in array(json, at: pointer.appending(name), "'\(name)'") where !(uri.string.map(LinkSyntax.isURI) ?? false) {
                report(pointer, "'\(name)' must contain only URLs, as strings")
            }
        }
        checkCommon(object, at: pointer)
    }
}

// MARK: Resources and identifiers

extension DocumentValidator {
    private mutating func checkData(_ json: JSONValue, at pointer: JSONPointer) {
        let needsResource = role == .creation || role == .update
        switch json {
        case .null:
            if needsResource { report(pointer, "The request must have a resource") }
        case .object: checkPrimary(json, at: pointer)
        case .array(let elements):
            if needsResource { report(pointer, "The request must have one resource, not an array") }
            for (index, element) in elements.enumerated() { checkPrimary(element, at: pointer.appending(index)) }
        default: report(pointer, "'data' must be a resource, an array of resources, or null")
        }
    }

    private mutating func checkPrimary(_ json: JSONValue, at pointer: JSONPointer) {
        if role == .relationship {
            checkIdentifier(json, at: pointer)
        } else {
            checkResource(json, at: pointer, mayBeNew: role == .creation)
        }
    }

    private mutating func checkResource(_ json: JSONValue, at pointer: JSONPointer, mayBeNew: Bool) {
        guard let resource = object(json, at: pointer, "A resource") else { return }
        checkMembers(of: resource, at: pointer, "a resource", known: ["type", "id", "lid", "attributes", "relationships", "links", "meta"])
        checkIdentity(of: resource, at: pointer, needsID: !mayBeNew, needsEither: false)
        checkAttributes(of: resource, at: pointer.appending("attributes"))
        checkRelationships(of: resource, at: pointer.appending("relationships"))
        checkCommon(resource, at: pointer)
    }

    private mutating func checkIdentifier(_ json: JSONValue, at pointer: JSONPointer) {
        guard let identifier = object(json, at: pointer, "An identifier") else { return }
        checkMembers(of: identifier, at: pointer, "an identifier", known: ["type", "id", "lid", "meta"])
        checkIdentity(of: identifier, at: pointer, needsID: false, needsEither: true)
        checkCommon(identifier, at: pointer)
    }

    private mutating func checkIdentity(of object: JSONObject, at pointer: JSONPointer, needsID: Bool, needsEither: Bool) {
        if let type = object["type"]?.string {
            checkName(type, at: pointer.appending("type"))
        } else {
            report(pointer.appending("type"), object["type"] == nil ? "'type' is missing" : "'type' must be a string")
        }
        checkStrings("id", "lid", of: object, at: pointer)
        guard object["id"] == nil else { return }
        if needsID { report(pointer.appending("id"), "'id' is missing") }
        if needsEither, object["lid"] == nil { report(pointer.appending("id"), "'id' or 'lid' is required") }
    }

    private mutating func checkAttributes(of resource: JSONObject, at pointer: JSONPointer) {
        guard let json = resource["attributes"], let attributes = object(json, at: pointer, "'attributes'") else { return }
        for name in attributes.keys { checkField(name, at: pointer.appending(name)) }
    }

    private mutating func checkRelationships(of resource: JSONObject, at pointer: JSONPointer) {
        guard let json = resource["relationships"], let relationships = object(json, at: pointer, "'relationships'") else { return }
        let attributes = resource["attributes"]?.object
        for (name, relationship) in relationships {
            let pointer = pointer.appending(name)
            checkField(name, at: pointer)
            guard !MemberName.isAtMember(name) else { continue }
            if attributes?[name] != nil { report(pointer, "'\(name)' must not be both an attribute and a relationship") }
            checkRelationship(relationship, at: pointer)
        }
    }

    private mutating func checkField(_ name: String, at pointer: JSONPointer) {
        if name == "id" || name == "type" { report(pointer, "A resource field must not be named '\(name)'") }
        checkName(name, at: pointer)
    }

    private mutating func checkRelationship(_ json: JSONValue, at pointer: JSONPointer) {
        guard let relationship = object(json, at: pointer, "A relationship") else { return }
        checkMembers(of: relationship, at: pointer, "a relationship", known: ["data", "links", "meta"])
        if !relationship.contains(where: { ["data", "links", "meta"].contains($0.key) || MemberName.isExtension($0.key) }) {
            report(pointer, "A relationship must have 'links', 'data', 'meta', or a member of an extension")
        }
        let place = pointer.appending("data")
        switch relationship["data"] {
        case nil:
            if role == .creation || role == .update { report(place, "A relationship in a request must have 'data'") }
        case .null?: break
        case .object(let identifier)?: checkIdentifier(.object(identifier), at: place)
        case .array(let elements)?:
            for (index, element) in elements.enumerated() { checkIdentifier(element, at: place.appending(index)) }
        default: report(place, "'data' must be an identifier, an array of identifiers, or null")
        }
        checkCommon(relationship, at: pointer)
    }
}

// MARK: Links and errors

extension DocumentValidator {
    /// Checks links. `names` are the names that they may have here; nil allows any name.
    private mutating func checkLinks(_ json: JSONValue, at pointer: JSONPointer, names: Set<String>?) {
        guard let links = object(json, at: pointer, "'links'") else { return }
        if let names { checkMembers(of: links, at: pointer, "these links", known: names) }
        for (name, link) in links where !MemberName.isAtMember(name) { checkLink(link, at: pointer.appending(name)) }
    }

    private mutating func checkLink(_ json: JSONValue, at pointer: JSONPointer) {
        switch json {
        case .null: break
        case .string(let url): checkURL(url, at: pointer)
        case .object(let link):
            checkMembers(of: link, at: pointer, "a link", known: ["href", "rel", "describedby", "title", "type", "hreflang", "meta"])
            if link["href"] == nil { report(pointer.appending("href"), "'href' is missing") }
            checkStrings("href", "rel", "title", "type", of: link, at: pointer)
            if let url = link["href"]?.string { checkURL(url, at: pointer.appending("href")) }
            if let relation = link["rel"]?.string, !LinkSyntax.isRelationType(relation) {
                report(pointer.appending("rel"), "'rel' must be a link relation type, such as 'next', or a URL")
            }
            if let description = link["describedby"] { checkLink(description, at: pointer.appending("describedby")) }
            if let languages = link["hreflang"] {
                let tags = languages.array ?? [languages]
                if !tags.allSatisfy({ $0.string.map(LinkSyntax.isLanguageTag) ?? false }) {
                    report(pointer.appending("hreflang"), "'hreflang' must be a language tag, such as 'en', or an array of them")
                }
            }
            if let meta = link["meta"] { checkMeta(meta, at: pointer.appending("meta")) }
        default: report(pointer, "A link must be a string, an object, or null")
        }
    }

    private mutating func checkURL(_ text: String, at pointer: JSONPointer) {
        if !LinkSyntax.isReference(text) { report(pointer, "A link must be a URL, with invalid characters percent-encoded") }
    }

    private mutating func checkError(_ json: JSONValue, at pointer: JSONPointer) {
        guard let error = object(json, at: pointer, "An error") else { return }
        let known: Set<String> = ["id", "links", "status", "code", "title", "detail", "source", "meta"]
        checkMembers(of: error, at: pointer, "an error", known: known)
        if !error.contains(where: { known.contains($0.key) }) { report(pointer, "An error must have at least one member") }
        checkStrings("id", "status", "code", "title", "detail", of: error, at: pointer)
        checkCommon(error, at: pointer, linkNames: ["about", "type"])
        let place = pointer.appending("source")
        guard let json = error["source"], let source = object(json, at: place, "'source'") else { return }
        checkStrings("pointer", "parameter", "header", of: source, at: place)
        if let text = source["pointer"]?.string, JSONPointer(text) == nil {
            report(place.appending("pointer"), "'pointer' must be a JSON Pointer")
        }
    }
}

// MARK: Atomic Operations extension (`https://jsonapi.org/ext/atomic`, "Document Structure")

extension DocumentValidator {
    private mutating func checkAtomicMembers(of document: JSONObject) {
        let members = ["atomic:operations", "atomic:results"].filter { document[$0] != nil }
        guard let first = members.first else { return }
        for name in ["data", "included", "errors"] + members.dropFirst() where document[name] != nil {
            report(JSONPointer.root.appending(name), "'\(name)' must not appear alongside '\(first)'")
        }
        for name in members {
            let pointer = JSONPointer.root.appending(name)
            let isRequest = name == "atomic:operations"
            if isRequest, document[name] == [] { report(pointer, "At least one operation is required") }
            for (pointer, json) in array(document[name], at: pointer, "'\(name)'") {
                if isRequest { checkOperation(json, at: pointer) } else { checkResult(json, at: pointer) }
            }
        }
    }

    private mutating func checkOperation(_ json: JSONValue, at pointer: JSONPointer) {
        guard let operation = object(json, at: pointer, "An operation") else { return }
        checkMembers(of: operation, at: pointer, "an operation", known: ["op", "ref", "href", "data", "meta"])
        if operation["op"]?.string.flatMap(JSONAPIOperation.Code.init) == nil {
            report(pointer.appending("op"), "'op' must be 'add', 'update', or 'remove'")
        }
        checkStrings("href", of: operation, at: pointer)
        if let url = operation["href"]?.string { checkURL(url, at: pointer.appending("href")) }
        if operation["href"] != nil, operation["ref"] != nil {
            report(pointer.appending("ref"), "'ref' and 'href' must not appear together")
        }
        if let ref = operation["ref"] { checkReference(ref, at: pointer.appending("ref")) }
        if let data = operation["data"] { checkData(data, at: pointer.appending("data"), as: role(of: operation, data)) }
        checkCommon(operation, at: pointer)
    }

    /// Returns the role that the data of an operation would have in a separate request.
    private func role(of operation: JSONObject, _ data: JSONValue) -> JSONAPIDocument.Role {
        let isRelationship = operation["ref"]?["relationship"] != nil || operation["href"]?.string?.contains("/relationships/") == true
        if isRelationship { return .relationship }
        // A resource that an earlier operation creates is identified by its local id.
        return operation["op"] == "add" || (data["id"] == nil && data["lid"] != nil) ? .creation : .update
    }

    private mutating func checkReference(_ json: JSONValue, at pointer: JSONPointer) {
        guard var reference = object(json, at: pointer, "'ref'") else { return }
        checkStrings("relationship", of: reference, at: pointer)
        reference["relationship"] = nil
        checkIdentifier(.object(reference), at: pointer)
        if reference["id"] != nil, reference["lid"] != nil { report(pointer.appending("lid"), "'id' and 'lid' must not appear together") }
    }

    private mutating func checkResult(_ json: JSONValue, at pointer: JSONPointer) {
        guard let result = object(json, at: pointer, "A result") else { return }
        if let data = result["data"] { checkData(data, at: pointer.appending("data"), as: .response) }
        checkCommon(result, at: pointer)
    }

    private mutating func checkData(_ json: JSONValue, at pointer: JSONPointer, as role: JSONAPIDocument.Role) {
        let documentRole = self.role
        self.role = role
        checkData(json, at: pointer)
        self.role = documentRole
    }
}

// MARK: Compound documents

extension DocumentValidator {
    /// Checks that each resource appears only once and that each included resource is linked to.
    private mutating func checkCompound(_ document: JSONObject) {
        let primary = document["data"].map { $0.array ?? [$0] } ?? []
        let included = document["included"]?.array ?? []
        // The identifiers in a relationship must not repeat either, so they need no exception.
        var seen = Set<ResourceKey>()
        let isList = document["data"]?.array != nil
        for (index, resource) in primary.enumerated() {
            checkUnique(resource, at: isList ? .data.appending(index) : .data, &seen)
        }
        for (index, resource) in included.enumerated() { checkUnique(resource, at: .included.appending(index), &seen) }
        if role != .sparseResponse { checkFullLinkage(from: primary, to: included) }
    }

    private mutating func checkUnique(_ json: JSONValue, at pointer: JSONPointer, _ seen: inout Set<ResourceKey>) {
        guard let key = ResourceKey(reading: json), !seen.insert(key).inserted else { return }
        report(pointer, "The resource appears in the document twice")
    }

    /// Follows the linkage from the primary data to the included resources.
    private mutating func checkFullLinkage(from primary: [JSONValue], to included: [JSONValue]) {
        guard !included.isEmpty else { return }
        let keys = included.map(ResourceKey.init(reading:))
        // If a resource is repeated, the first one counts.
        var unreached: [ResourceKey: Int] = [:]
        for (index, key) in keys.enumerated() {
            if let key, unreached[key] == nil { unreached[key] = index }
        }
        // Identifiers are also primary data, and lead to the resources they name.
        var pending =
            primary + primary.compactMap { ResourceKey(reading: $0).flatMap { unreached.removeValue(forKey: $0) } }.map { included[$0] }
        while let resource = pending.popLast() {
            for (_, relationship) in resource["relationships"]?.object ?? [:] {
                guard let data = relationship["data"] else { continue }
                for target in data.array ?? [data] {
                    guard let index = ResourceKey(reading: target).flatMap({ unreached.removeValue(forKey: $0) }) else { continue }
                    pending.append(included[index])
                }
            }
        }
        for index in unreached.values.sorted() {
            report(.included.appending(index), "Nothing in the document links to this resource")
        }
    }
}

extension JSONAPIDocument.Role {
    /// Whether a document with this role is a request that has primary data.
    fileprivate var needsData: Bool {
        switch self {
        case .creation, .update, .relationship: true
        case .response, .sparseResponse: false
        }
    }
}
