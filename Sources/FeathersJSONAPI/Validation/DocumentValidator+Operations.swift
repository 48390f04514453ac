import FeathersCore

/// What the Atomic Operations extension adds to documents (`https://jsonapi.org/ext/atomic`, "Document Structure").
extension DocumentValidator {
    mutating func checkAtomicMembers(of document: JSONObject) {
        let members = ["atomic:operations", "atomic:results"].filter { document[$0] != nil }
        guard let first = members.first else { return }
        for name in ["data", "included", "errors"] + members.dropFirst() where document[name] != nil {
            report(JSONPointer.root.appending(name), "'\(name)' must not stand beside '\(first)'")
        }
        if let operations = elements("atomic:operations", of: document) {
            if operations.isEmpty { report(JSONPointer.root.appending("atomic:operations"), "There must be one operation at least") }
            for (index, json) in operations.enumerated() {
                checkOperation(json, at: JSONPointer.root.appending("atomic:operations").appending(index))
            }
        }
        for (index, json) in (elements("atomic:results", of: document) ?? []).enumerated() {
            checkResult(json, at: JSONPointer.root.appending("atomic:results").appending(index))
        }
    }

    private mutating func elements(_ name: String, of document: JSONObject) -> [JSONValue]? {
        guard let json = document[name] else { return nil }
        if json.array == nil { report(JSONPointer.root.appending(name), "'\(name)' must be an array") }
        return json.array
    }

    private mutating func checkOperation(_ json: JSONValue, at pointer: JSONPointer) {
        guard let operation = json.object else {
            report(pointer, "An operation must be an object")
            return
        }
        checkMembers(of: operation, at: pointer, "an operation", known: ["op", "ref", "href", "data", "meta"])
        if operation["op"]?.string.flatMap(JSONAPIOperation.Code.init) == nil {
            report(pointer.appending("op"), "'op' must be 'add', 'update' or 'remove'")
        }
        checkString("href", of: operation, at: pointer)
        if operation["href"] != nil, operation["ref"] != nil {
            report(pointer.appending("ref"), "'ref' and 'href' must not stand together")
        }
        if let ref = operation["ref"] { checkReference(ref, at: pointer.appending("ref")) }
        if let data = operation["data"] { checkData(data, at: pointer.appending("data"), as: role(of: operation, data)) }
        checkCommon(operation, at: pointer)
    }

    /// What the data of an operation are for, which is what decides over them in a request of their own.
    private func role(of operation: JSONObject, _ data: JSONValue) -> JSONAPIDocument.Role {
        let isRelationship = operation["ref"]?["relationship"] != nil || operation["href"]?.string?.contains("/relationships/") == true
        if isRelationship { return .relationship }
        // A resource that an operation before it creates is known by its local id.
        return operation["op"] == "add" || (data["id"] == nil && data["lid"] != nil) ? .creation : .update
    }

    private mutating func checkReference(_ json: JSONValue, at pointer: JSONPointer) {
        guard var reference = json.object else {
            report(pointer, "'ref' must be an object")
            return
        }
        checkString("relationship", of: reference, at: pointer)
        reference["relationship"] = nil
        checkIdentifier(.object(reference), at: pointer)
        if reference["id"] != nil, reference["lid"] != nil { report(pointer.appending("lid"), "'id' and 'lid' must not stand together") }
    }

    private mutating func checkResult(_ json: JSONValue, at pointer: JSONPointer) {
        guard let result = json.object else {
            report(pointer, "A result must be an object")
            return
        }
        if let data = result["data"] { checkData(data, at: pointer.appending("data"), as: .response) }
        checkCommon(result, at: pointer)
    }

    private mutating func checkData(_ json: JSONValue, at pointer: JSONPointer, as role: JSONAPIDocument.Role) {
        var validator = DocumentValidator(role: role)
        validator.checkData(json, at: pointer)
        for violation in validator.violations { report(violation.pointer, violation.message) }
    }
}
