import FeathersCore

/// Primary data, resources and identifiers.
extension DocumentValidator {
    mutating func checkData(_ json: JSONValue, at pointer: JSONPointer) {
        switch json {
        case .null:
            if role == .creation || role == .update { report(pointer, "The request must have a resource") }
        case .object: checkPrimary(json, at: pointer)
        case .array(let elements):
            if role == .creation || role == .update { report(pointer, "The request must have one resource, not an array") }
            for (index, element) in elements.enumerated() { checkPrimary(element, at: pointer.appending(index)) }
        default: report(pointer, "'data' must be a resource, an array of resources or null")
        }
    }

    mutating func checkIncluded(_ json: JSONValue, at pointer: JSONPointer) {
        guard let elements = json.array else {
            report(pointer, "'included' must be an array")
            return
        }
        for (index, element) in elements.enumerated() { checkResource(element, at: pointer.appending(index), mayBeNew: false) }
    }

    private mutating func checkPrimary(_ json: JSONValue, at pointer: JSONPointer) {
        if role == .relationship {
            checkIdentifier(json, at: pointer)
        } else {
            checkResource(json, at: pointer, mayBeNew: role == .creation)
        }
    }

    private mutating func checkResource(_ json: JSONValue, at pointer: JSONPointer, mayBeNew: Bool) {
        guard let resource = json.object else {
            report(pointer, "A resource must be an object")
            return
        }
        checkMembers(
            of: resource, at: pointer, "a resource", known: ["type", "id", "lid", "attributes", "relationships", "links", "meta"])
        checkIdentity(of: resource, at: pointer, needsID: !mayBeNew, needsEither: false)
        checkAttributes(of: resource, at: pointer.appending("attributes"))
        checkRelationships(of: resource, at: pointer.appending("relationships"))
        checkCommon(resource, at: pointer)
    }

    mutating func checkIdentifier(_ json: JSONValue, at pointer: JSONPointer) {
        guard let identifier = json.object else {
            report(pointer, "An identifier must be an object")
            return
        }
        checkMembers(of: identifier, at: pointer, "an identifier", known: ["type", "id", "lid", "meta"])
        checkIdentity(of: identifier, at: pointer, needsID: false, needsEither: true)
        checkCommon(identifier, at: pointer)
    }

    private mutating func checkIdentity(of object: JSONObject, at pointer: JSONPointer, needsID: Bool, needsEither: Bool) {
        switch object["type"] {
        case .string(let type)?: checkName(type, at: pointer.appending("type"))
        case nil: report(pointer.appending("type"), "'type' is missing")
        default: report(pointer.appending("type"), "'type' must be a string")
        }
        checkString("id", of: object, at: pointer)
        checkString("lid", of: object, at: pointer)
        guard object["id"] == nil else { return }
        if needsID { report(pointer.appending("id"), "'id' is missing") }
        if needsEither, object["lid"] == nil { report(pointer.appending("id"), "'id' is missing, and there is no 'lid'") }
    }

    private mutating func checkAttributes(of resource: JSONObject, at pointer: JSONPointer) {
        guard let json = resource["attributes"] else { return }
        guard let attributes = json.object else {
            report(pointer, "'attributes' must be an object")
            return
        }
        for name in attributes.keys { checkField(name, at: pointer.appending(name)) }
    }

    private mutating func checkRelationships(of resource: JSONObject, at pointer: JSONPointer) {
        guard let json = resource["relationships"] else { return }
        guard let relationships = json.object else {
            report(pointer, "'relationships' must be an object")
            return
        }
        let attributes = resource["attributes"]?.object
        for (name, relationship) in relationships {
            let pointer = pointer.appending(name)
            checkField(name, at: pointer)
            if !MemberName.isAtMember(name), attributes?[name] != nil {
                report(pointer, "'\(name)' must not be an attribute and a relationship at once")
            }
            if !MemberName.isAtMember(name) { checkRelationship(relationship, at: pointer) }
        }
    }

    private mutating func checkField(_ name: String, at pointer: JSONPointer) {
        if name == "id" || name == "type" { report(pointer, "No field of a resource may be named '\(name)'") }
        checkName(name, at: pointer)
    }

    private mutating func checkRelationship(_ json: JSONValue, at pointer: JSONPointer) {
        guard let relationship = json.object else {
            report(pointer, "A relationship must be an object")
            return
        }
        checkMembers(of: relationship, at: pointer, "a relationship", known: ["data", "links", "meta"])
        let hasExtension = relationship.contains { MemberName.isExtension($0.key) }
        if relationship["data"] == nil, relationship["links"] == nil, relationship["meta"] == nil, !hasExtension {
            report(pointer, "A relationship must have 'links', 'data', 'meta' or a member of an extension")
        }
        if relationship["data"] == nil, role == .creation || role == .update {
            report(pointer.appending("data"), "A relationship in a request must have 'data'")
        }
        if let data = relationship["data"] { checkLinkage(data, at: pointer.appending("data")) }
        checkCommon(relationship, at: pointer)
    }

    private mutating func checkLinkage(_ json: JSONValue, at pointer: JSONPointer) {
        switch json {
        case .null: break
        case .object: checkIdentifier(json, at: pointer)
        case .array(let elements):
            for (index, element) in elements.enumerated() { checkIdentifier(element, at: pointer.appending(index)) }
        default: report(pointer, "'data' must be an identifier, an array of identifiers or null")
        }
    }
}
