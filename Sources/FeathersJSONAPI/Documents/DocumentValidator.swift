import FeathersCore

/// Lists what violates the specification in a document.
///
/// Each check takes a value with its location, and has nothing to do if the value is absent.
struct DocumentValidator {
    private struct Place {
        let json: JSONValue
        let pointer: JSONPointer

        /// The name of the member, in quotation marks.
        var name: String { "'\(pointer.tokens.last ?? "")'" }
        var keys: [String] { json.object?.keys ?? [] }
        var members: [(name: String, place: Place)] { keys.compactMap { name in self[name].map { (name, $0) } } }
        subscript(_ name: String) -> Place? { json[name].map { Place(json: $0, pointer: pointer.appending(name)) } }
    }

    private var role: JSONAPIDocument.Role
    private(set) var violations: [JSONAPIError] = []

    init(role: JSONAPIDocument.Role) { self.role = role }

    mutating func checkDocument(_ json: JSONValue) {
        let place = Place(json: json, pointer: .root)
        guard
            let document = object(place, "a document", of: ["data", "errors", "meta", "jsonapi", "links", "included"])
        else { return }
        require(["data", "errors", "meta"], in: document, "A document")
        if document["data"] != nil, let errors = document["errors"] {
            report(errors.pointer, "'data' and 'errors' must not appear in the same document")
        }
        if document["data"] == nil {
            if document["included"] != nil {
                report(.included, "'included' must not appear in a document without 'data'")
            }
            let isRequest = role != .response && role != .sparseResponse
            if isRequest, document["atomic:operations"] == nil { report(.data, "The request must have 'data'") }
        }
        checkData(document["data"], as: role)
        for resource in elements(document["included"]) { checkResource(resource, mayBeNew: false) }
        for error in elements(document["errors"]) { checkError(error) }
        checkCommon(document, linkNames: ["self", "related", "describedby", "first", "last", "prev", "next"])
        checkImplementation(document["jsonapi"])
        checkAtomicMembers(of: document)
        checkCompound(document)
    }

    // MARK: Members of all objects

    private mutating func report(_ pointer: JSONPointer, _ message: String) {
        violations.append(JSONAPIError(pointer, message))
    }

    /// Returns a value that is an object. Reports any other value. Also reports members that are not among `names`,
    /// except for members of extensions and those that readers ignore.
    private mutating func object(_ place: Place?, _ what: String, of names: Set<String>? = nil) -> Place? {
        guard let place else { return nil }
        guard place.json.object != nil else {
            report(place.pointer, "\(what.prefix(1).uppercased())\(what.dropFirst()) must be an object")
            return nil
        }
        for name in place.keys
        where names?.contains(name) == false && !MemberName.isExtension(name) && !MemberName.isAtMember(name) {
            report(place.pointer.appending(name), "'\(name)' is not a member of \(what)")
        }
        return place
    }

    private mutating func require(_ names: [String], in object: Place, _ what: String) {
        guard !object.keys.contains(where: { names.contains($0) || MemberName.isExtension($0) }) else { return }
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        report(object.pointer, "\(what) must have \(list), or a member of an extension")
    }

    /// Returns the elements of an array, or reports a value that is not an array.
    private mutating func elements(_ place: Place?) -> [Place] {
        guard let place else { return [] }
        if place.json.array == nil { report(place.pointer, "\(place.name) must be an array") }
        return (place.json.array ?? []).enumerated().map { Place(json: $1, pointer: place.pointer.appending($0)) }
    }

    private mutating func checkCommon(_ object: Place, linkNames: Set<String>? = nil) {
        let links = self.object(object["links"], linkNames == nil ? "'links'" : "these links", of: linkNames)
        for (name, link) in links?.members ?? [] where !MemberName.isAtMember(name) { checkLink(link) }
        for (name, place) in self.object(object["meta"], "'meta'")?.members ?? [] { checkName(name, at: place.pointer) }
    }

    private mutating func checkName(_ name: String, at pointer: JSONPointer) {
        guard !MemberName.isAtMember(name), !MemberName.isExtension(name), !MemberName.isAllowed(name) else { return }
        report(pointer, "'\(name)' is not a valid member name")
    }

    private mutating func checkStrings(_ names: String..., in object: Place) {
        for case let place? in names.map({ object[$0] }) where place.json.string == nil {
            report(place.pointer, "\(place.name) must be a string")
        }
    }

    /// Reports a text without the right syntax. Values that are not texts are reported elsewhere.
    private mutating func checkSyntax(_ place: Place?, _ message: String, _ isValid: (String) -> Bool) {
        if let place, let text = place.json.string, !isValid(text) { report(place.pointer, message) }
    }

    private mutating func checkImplementation(_ place: Place?) {
        guard let jsonapi = object(place, "'jsonapi'", of: ["version", "ext", "profile", "meta"]) else { return }
        checkStrings("version", in: jsonapi)
        for uri in elements(jsonapi["ext"]) + elements(jsonapi["profile"])
        where uri.json.string.map(LinkSyntax.isURI) != true {
            report(uri.pointer, "'ext' and 'profile' must contain only URLs, as strings")
        }
        checkCommon(jsonapi)
    }
}

// MARK: Resources and identifiers

extension DocumentValidator {
    /// Checks primary data, or the data of an operation, whose role is the one that it would have in a separate
    /// request.
    private mutating func checkData(_ place: Place?, as role: JSONAPIDocument.Role) {
        guard let place else { return }
        let documentRole = self.role
        self.role = role
        defer { self.role = documentRole }
        guard role != .relationship else { return checkLinkage(place) }
        let needsResource = role == .creation || role == .update
        switch place.json {
        case .null: if needsResource { report(place.pointer, "The request must have a resource") }
        case .object: checkResource(place, mayBeNew: role == .creation)
        case .array:
            if needsResource { report(place.pointer, "The request must have one resource, not an array") }
            for resource in elements(place) { checkResource(resource, mayBeNew: role == .creation) }
        default: report(place.pointer, "'data' must be a resource, an array of resources, or null")
        }
    }

    private mutating func checkResource(_ place: Place, mayBeNew: Bool) {
        let names: Set = ["type", "id", "lid", "attributes", "relationships", "links", "meta"]
        guard let resource = object(place, "a resource", of: names) else { return }
        checkIdentity(of: resource)
        if !mayBeNew, resource["id"] == nil { report(place.pointer.appending("id"), "'id' is missing") }
        let attributes = object(resource["attributes"], "'attributes'")?.members ?? []
        let relationships = object(resource["relationships"], "'relationships'")?.members ?? []
        for (name, field) in attributes + relationships {
            if name == "id" || name == "type" { report(field.pointer, "A resource field must not be named '\(name)'") }
            checkName(name, at: field.pointer)
        }
        for (name, relationship) in relationships where !MemberName.isAtMember(name) {
            if resource["attributes"]?[name] != nil {
                report(relationship.pointer, "'\(name)' must not be both an attribute and a relationship")
            }
            checkRelationship(relationship)
        }
        checkCommon(resource)
    }

    private mutating func checkIdentifier(_ place: Place?, _ what: String = "an identifier", also name: String = "meta")
    {
        guard let identifier = object(place, what, of: ["type", "id", "lid", "meta", name]) else { return }
        checkIdentity(of: identifier)
        if identifier["id"] == nil, identifier["lid"] == nil {
            report(identifier.pointer.appending("id"), "'id' or 'lid' is required")
        }
        checkCommon(identifier)
    }

    private mutating func checkIdentity(of object: Place) {
        if object["type"] == nil { report(object.pointer.appending("type"), "'type' is missing") }
        checkStrings("type", "id", "lid", in: object)
        if let type = object["type"], let name = type.json.string { checkName(name, at: type.pointer) }
    }

    private mutating func checkRelationship(_ place: Place) {
        guard let relationship = object(place, "a relationship", of: ["data", "links", "meta"]) else { return }
        require(["links", "data", "meta"], in: relationship, "A relationship")
        if role == .creation || role == .update, relationship["data"] == nil {
            report(place.pointer.appending("data"), "A relationship in a request must have 'data'")
        }
        if let data = relationship["data"] { checkLinkage(data) }
        checkCommon(relationship)
    }

    private mutating func checkLinkage(_ place: Place) {
        switch place.json {
        case .null: break
        case .object: checkIdentifier(place)
        case .array: for identifier in elements(place) { checkIdentifier(identifier) }
        default: report(place.pointer, "'data' must be an identifier, an array of identifiers, or null")
        }
    }
}

// MARK: Links and errors

extension DocumentValidator {
    private mutating func checkLink(_ place: Place) {
        switch place.json {
        case .null: break
        case .string: checkURL(place)
        case .object:
            let names: Set = ["href", "rel", "describedby", "title", "type", "hreflang", "meta"]
            guard let link = object(place, "a link", of: names) else { return }
            if link["href"] == nil { report(place.pointer.appending("href"), "'href' is missing") }
            checkStrings("href", "rel", "title", "type", in: link)
            checkURL(link["href"])
            checkSyntax(
                link["rel"], "'rel' must be a link relation type, such as 'next', or a URL", LinkSyntax.isRelationType)
            if let description = link["describedby"] { checkLink(description) }
            if let languages = link["hreflang"],
                !languages.json.arrayOrSelf.allSatisfy({ $0.string.map(LinkSyntax.isLanguageTag) ?? false })
            {
                report(languages.pointer, "'hreflang' must be a language tag, such as 'en', or an array of them")
            }
            checkCommon(link)
        default: report(place.pointer, "A link must be a string, an object, or null")
        }
    }

    private mutating func checkURL(_ place: Place?) {
        checkSyntax(place, "A link must be a URL, with invalid characters percent-encoded", LinkSyntax.isReference)
    }

    private mutating func checkError(_ place: Place) {
        let names: Set = ["id", "links", "status", "code", "title", "detail", "source", "meta"]
        guard let error = object(place, "an error", of: names) else { return }
        if names.isDisjoint(with: error.keys) { report(place.pointer, "An error must have at least one member") }
        checkStrings("id", "status", "code", "title", "detail", in: error)
        checkCommon(error, linkNames: ["about", "type"])
        guard let source = object(error["source"], "'source'") else { return }
        checkStrings("pointer", "parameter", "header", in: source)
        checkSyntax(source["pointer"], "'pointer' must be a JSON Pointer") { JSONPointer($0) != nil }
    }
}

// MARK: Atomic Operations extension (`https://jsonapi.org/ext/atomic`, "Document Structure")

extension DocumentValidator {
    private mutating func checkAtomicMembers(of document: Place) {
        let names = ["atomic:operations", "atomic:results"].filter { document[$0] != nil }
        for name in ["data", "included", "errors"] + names.dropFirst() where names.first != nil && document[name] != nil
        {
            report(.root.appending(name), "'\(name)' must not appear alongside '\(names[0])'")
        }
        if let operations = document["atomic:operations"], operations.json == [] {
            report(operations.pointer, "At least one operation is required")
        }
        for operation in elements(document["atomic:operations"]) { checkOperation(operation) }
        for case let result? in elements(document["atomic:results"]).map({ object($0, "a result") }) {
            checkData(result["data"], as: .response)
            checkCommon(result)
        }
    }

    private mutating func checkOperation(_ place: Place) {
        guard let operation = object(place, "an operation", of: ["op", "ref", "href", "data", "meta"]) else { return }
        if operation["op"]?.json.string.flatMap(JSONAPIOperation.Code.init) == nil {
            report(place.pointer.appending("op"), "'op' must be 'add', 'update', or 'remove'")
        }
        checkStrings("href", in: operation)
        checkURL(operation["href"])
        if let ref = operation["ref"] {
            if operation["href"] != nil { report(ref.pointer, "'ref' and 'href' must not appear together") }
            checkIdentifier(ref, "'ref'", also: "relationship")
            checkStrings("relationship", in: ref)
            if ref["id"] != nil, let lid = ref["lid"] { report(lid.pointer, "'id' and 'lid' must not appear together") }
        }
        checkData(operation["data"], as: role(of: operation))
        checkCommon(operation)
    }

    private func role(of operation: Place) -> JSONAPIDocument.Role {
        let isRelationship =
            operation["ref"]?["relationship"] != nil
            || operation["href"]?.json.string?.contains("/relationships/") == true
        if isRelationship { return .relationship }
        // A resource that an earlier operation creates is identified by its local id.
        let data = operation["data"]
        return operation["op"]?.json == "add" || (data?["id"] == nil && data?["lid"] != nil) ? .creation : .update
    }
}

// MARK: Compound documents

extension DocumentValidator {
    /// Checks that each resource appears only once, and that linkage leads from the primary data to each included
    /// resource.
    private mutating func checkCompound(_ document: Place) {
        let primary = document["data"].map { $0.json.array == nil ? [$0] : elements($0) } ?? []
        let included = document["included"]?.json.array == nil ? [] : elements(document["included"])
        // The identifiers in a relationship must not repeat either, so they need no exception.
        var seen = Set<ResourceKey>()
        var unreached: [ResourceKey: Int] = [:]
        for (index, resource) in (primary + included).enumerated() {
            guard let key = ResourceKey(reading: resource.json) else { continue }
            if !seen.insert(key).inserted { report(resource.pointer, "The resource appears in the document twice") }
            // If a resource is repeated, the first one counts.
            if index >= primary.count, unreached[key] == nil { unreached[key] = index - primary.count }
        }
        guard role != .sparseResponse else { return }
        var pending = primary.map(\.json)
        while let resource = pending.popLast() {
            // Identifiers are also primary data, and lead to the resources they name.
            var targets = [resource]
            for (_, relationship) in resource["relationships"]?.object ?? [:] {
                targets += relationship["data"]?.arrayOrSelf ?? []
            }
            pending += targets.compactMap { ResourceKey(reading: $0).flatMap { unreached.removeValue(forKey: $0) } }
                .map { included[$0].json }
        }
        for index in unreached.values.sorted() {
            report(included[index].pointer, "Nothing in the document links to this resource")
        }
    }
}

extension JSONValue {
    /// The elements of an array, or a single value.
    fileprivate var arrayOrSelf: [JSONValue] { array ?? [self] }
}
