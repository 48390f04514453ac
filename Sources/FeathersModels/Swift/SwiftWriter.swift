/// Writes generated types as Swift, as a person would.
struct SwiftWriter {
    /// `public ` or nothing.
    let access: String
    private(set) var lines: [String] = []
    private var indentation = ""
    static let width = 120

    init(isPublic: Bool) { access = isPublic ? "public " : "" }

    mutating func line(_ text: String = "") { lines.append(text.isEmpty ? "" : indentation + text) }

    /// Writes a line that ends with a brace, the lines inside, and the closing brace.
    mutating func block(_ head: String, _ body: (inout Self) -> Void) {
        line(head + " {")
        indentation += "    "
        body(&self)
        indentation.removeLast(4)
        line("}")
    }

    /// Writes a documentation comment, wrapped.
    mutating func comment(_ paragraphs: [String]) {
        for paragraph in paragraphs {
            var current = "///"
            for word in paragraph.split(whereSeparator: { $0.isWhitespace || $0.isNewline || Self.isControl($0) }) {
                if current.count + word.count + indentation.count >= Self.width, current != "///" {
                    line(current)
                    current = "///"
                }
                current += " " + word
            }
            line(current)
        }
    }

    private static func isControl(_ character: Character) -> Bool {
        character.unicodeScalars.contains {
            $0.properties.generalCategory == .control || $0.properties.generalCategory == .format
        }
    }

    /// Returns a string literal with everything escaped that could end it.
    static func literal(_ text: String) -> String { "\"" + escaped(text, quoting: ["\"", "\\"]) + "\"" }

    /// Returns text on one line, with Swift's escapes for control characters and marks that change the text's
    /// direction.
    static func escaped(_ text: String, quoting quoted: Set<Unicode.Scalar> = []) -> String {
        var literal = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case _ where quoted.contains(scalar): literal += "\\" + String(scalar)
            default:
                let category = scalar.properties.generalCategory
                let isPlain =
                    category != .control && category != .format && category != .lineSeparator
                    && category != .paragraphSeparator
                if isPlain {
                    literal.unicodeScalars.append(scalar)
                } else {
                    literal += "\\u{\(String(scalar.value, radix: 16))}"
                }
            }
        }
        return literal
    }

    mutating func write(_ declaration: SwiftDeclaration) {
        switch declaration {
        case .structure(let structure): write(structure)
        case .enumeration(let enumeration): write(enumeration)
        case .union(let union): write(union)
        }
    }

    private static func name(_ path: String) -> String { path.split(separator: ".").last.map(String.init) ?? path }

    /// Returns the conformances of a structure or a union. A nested type has the isolation of the enclosing type.
    private static func conformances(_ path: String) -> String {
        "Codable, Hashable, Sendable" + (path.contains(".") ? "" : ", ServiceValue")
    }

    // MARK: Structures

    private mutating func write(_ structure: SwiftStructure) {
        comment(structure.comment)
        let identifier = structure.model?.id.flatMap { id in
            id == "id" || !structure.properties.contains { $0.name == "id" } ? id : nil
        }
        let conformances =
            structure.model == nil
            ? Self.conformances(structure.path)
            : "Codable, Hashable, Sendable, \(identifier == nil ? "" : "Identifiable, ")ServiceModel"
        block("\(access)struct \(Self.name(structure.path)): \(conformances)") { writer in
            for property in structure.properties { writer.write(property, in: structure.path) }
            if let identifier, identifier != "id",
                let property = structure.properties.first(where: { $0.name == identifier })
            {
                writer.line()
                writer.line("/// The record's id, which `Identifiable` asks for.")
                let type = Self.type(of: property, in: structure.path)
                writer.line("\(writer.access)var id: \(type) { \(SwiftNames.escaped(identifier)) }")
            }
            let keys = structure.properties.map { ($0.name, $0.key) }
            if structure.model != nil || keys.contains(where: { $0.0 != $0.1 }) {
                if !keys.isEmpty { writer.line() }
                writer.writeKeys("\(structure.model == nil ? "private " : writer.access)enum CodingKeys", keys)
            }
            if let model = structure.model {
                if let keys = model.queryKeys {
                    writer.line()
                    writer.comment(["The properties that the service's queries may name."])
                    writer.writeKeys("\(writer.access)enum QueryKeys", keys)
                }
                writer.line()
                writer.line("\(writer.access)typealias CreateData = \(model.createData.text())")
                writer.line("\(writer.access)typealias PatchData = \(model.patchData.text())")
            }
            if !writer.access.isEmpty {
                writer.line()
                writer.writeInitializer(structure)
            }
            for nested in structure.nested {
                writer.line()
                writer.write(nested)
            }
        }
    }

    /// Writes an enumeration of keys. Keys that equal their names share lines.
    private mutating func writeKeys(_ head: String, _ keys: [(name: String, key: String)]) {
        guard !keys.isEmpty else { return line("\(head): CodingKey {}") }
        block("\(head): String, CodingKey") { writer in
            var row = ""
            for (name, key) in keys {
                let escaped = SwiftNames.escaped(name)
                if name == key, row.count + escaped.count < Self.width - 20 {
                    row += row.isEmpty ? "case \(escaped)" : ", \(escaped)"
                    continue
                }
                if !row.isEmpty { writer.line(row) }
                row = name == key ? "case \(escaped)" : ""
                if row.isEmpty { writer.line("case \(escaped) = \(Self.literal(key))") }
            }
            if !row.isEmpty { writer.line(row) }
        }
    }

    private static func type(of property: SwiftProperty, in path: String) -> String {
        let type = property.type.text(in: path)
        switch property.presence {
        case .required: return type
        case .optional, .nullable: return type + "?"
        case .patch: return "Presence<\(type)>"
        }
    }

    private static func firstValue(of property: SwiftProperty) -> String {
        switch property.presence {
        case .patch: " = .absent"
        case .optional: " = nil"
        case .required: property.constant.map { " = .\($0)" } ?? ""
        case .nullable: ""
        }
    }

    private mutating func write(_ property: SwiftProperty, in path: String) {
        var comment = property.comment
        if property.isIndirect, property.presence == .nullable {
            comment.append("Left out when it is nil, although the server asks for null.")
        }
        self.comment(comment)
        let wrapper = property.isIndirect ? "@Indirect " : property.presence == .nullable ? "@Nullable " : ""
        // Only an optional without a wrapper is nil by default.
        let value = property.presence == .optional && !property.isIndirect ? "" : Self.firstValue(of: property)
        line(
            "\(wrapper)\(access)var \(SwiftNames.escaped(property.name)): \(Self.type(of: property, in: path))\(value)")
    }

    private mutating func writeInitializer(_ structure: SwiftStructure) {
        let parameters = structure.properties.map { property in
            let type = Self.type(of: property, in: structure.path)
            return "\(SwiftNames.escaped(property.name)): \(type)\(Self.firstValue(of: property))"
        }
        comment(["Creates a value of its properties."])
        let row = "\(access)init(\(parameters.joined(separator: ", ")))"
        let assignments = structure.properties.map { "self.\($0.name) = \(SwiftNames.escaped($0.name))" }
        if row.count + indentation.count + 2 <= Self.width {
            return block(row) { for text in assignments { $0.line(text) } }
        }
        line("\(access)init(")
        for (index, parameter) in parameters.enumerated() {
            line("    " + parameter + (index + 1 < parameters.count ? "," : ""))
        }
        block(")") { for text in assignments { $0.line(text) } }
    }

    // MARK: Enumerations

    private mutating func write(_ enumeration: SwiftEnumeration) {
        comment(enumeration.comment)
        block("\(access)enum \(Self.name(enumeration.path)): RawRepresentable, Codable, Hashable, Sendable, QueryValue")
        { writer in
            for (name, _) in enumeration.cases { writer.line("case \(SwiftNames.escaped(name))") }
            writer.line("/// A value that the schema does not list.")
            writer.line("case \(enumeration.unknown)(\(enumeration.rawType))")
            writer.line()
            writer.block("\(writer.access)init(rawValue: \(enumeration.rawType))") { writer in
                writer.line("self =")
                writer.line("    switch rawValue {")
                for (name, literal) in enumeration.cases { writer.line("    case \(literal): .\(name)") }
                writer.line("    default: .\(enumeration.unknown)(rawValue)")
                writer.line("    }")
            }
            writer.line()
            writer.block("\(writer.access)var rawValue: \(enumeration.rawType)") { writer in
                writer.line("switch self {")
                for (name, literal) in enumeration.cases { writer.line("case .\(name): \(literal)") }
                writer.line("case .\(enumeration.unknown)(let value): value")
                writer.line("}")
            }
        }
    }

    private mutating func write(_ union: SwiftUnion) {
        comment(union.comment)
        let modifiers = "\(union.isIndirect ? "indirect " : "")\(access)"
        block("\(modifiers)enum \(Self.name(union.path)): \(Self.conformances(union.path))") { writer in
            for one in union.cases {
                writer.line("case \(SwiftNames.escaped(one.name))(\(one.type.text(in: union.path)))")
            }
            if union.discriminator != nil {
                writer.line("/// A kind that the schema does not list.")
                writer.line("case \(union.unknown)(JSONValue)")
            }
            writer.line()
            writer.block("\(writer.access)init(from decoder: any Decoder) throws") { writer in
                if let discriminator = union.discriminator {
                    writer.writeDiscriminatedDecoding(union, discriminator)
                } else {
                    writer.writeTriedDecoding(union)
                }
            }
            writer.line()
            writer.block("\(writer.access)func encode(to encoder: any Encoder) throws") { writer in
                writer.line("var container = encoder.singleValueContainer()")
                writer.line("switch self {")
                let names = union.cases.map(\.name) + (union.discriminator == nil ? [] : [union.unknown])
                for name in names { writer.line("case .\(name)(let value): try container.encode(value)") }
                writer.line("}")
            }
            if let discriminator = union.discriminator {
                writer.line()
                writer.line(
                    "private enum CodingKeys: String, CodingKey { case discriminator = \(Self.literal(discriminator)) }"
                )
            }
            for nested in union.nested {
                writer.line()
                writer.write(nested)
            }
        }
    }

    private mutating func writeDiscriminatedDecoding(_ union: SwiftUnion, _ discriminator: String) {
        line("let container = try decoder.singleValueContainer()")
        line("self =")
        line("    switch try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .discriminator) {")
        for one in union.cases {
            guard let value = one.value else { continue }
            let type = one.type.text(in: union.path)
            line("    case \(Self.literal(value)): .\(one.name)(try container.decode(\(type).self))")
        }
        line("    default: .\(union.unknown)(try container.decode(JSONValue.self))")
        line("    }")
    }

    private mutating func writeTriedDecoding(_ union: SwiftUnion) {
        line("let container = try decoder.singleValueContainer()")
        var word = "if"
        for one in union.cases {
            line("\(word) let value = try? container.decode(\(one.type.text(in: union.path)).self) {")
            line("    self = .\(one.name)(value)")
            word = "} else if"
        }
        line("} else {")
        line(
            "    throw DecodingError.dataCorruptedError("
                + "in: container, debugDescription: \"None of the alternatives fits.\")")
        line("}")
    }

    // MARK: Services

    /// The service's definition, or a function that makes it if its path has parameters.
    mutating func write(_ service: SwiftService) {
        block("extension ServiceDefinition<\(service.model)>") { writer in
            writer.comment(["The service at `\(service.path)`."])
            let id = service.id == "id" ? "" : ", id: \(Self.literal(service.id))"
            let name = SwiftNames.escaped(service.name)
            guard !service.parameters.isEmpty else {
                return writer.line(
                    "\(writer.access)static var \(name): Self { Self(path: \(Self.literal(service.path))\(id)) }")
            }
            var (path, parameters, taken) = ([String](), [String](), NameSpace())
            for step in service.path.split(separator: "/") {
                guard step.hasPrefix(":") else {
                    path.append(String(Self.literal(String(step)).dropFirst().dropLast()))
                    continue
                }
                let written = SwiftNames.property(String(step.dropFirst()))
                let parameter = taken.take([written.isEmpty ? "value" : written])
                parameters.append(parameter)
                path.append("\\(\(SwiftNames.escaped(parameter)))")
            }
            let list = parameters.map { "\(SwiftNames.escaped($0)): String" }.joined(separator: ", ")
            let place = path.joined(separator: "/")
            writer.line("\(writer.access)static func \(name)(\(list)) -> Self { Self(path: \"\(place)\"\(id)) }")
        }
    }

    /// The relations of a service's model.
    mutating func write(_ relations: [SwiftRelation], of model: String) {
        block("extension \(model)") { writer in
            for (index, relation) in relations.enumerated() {
                if index > 0 { writer.line() }
                writer.comment([relation.comment])
                let head = "\(writer.access)static let \(SwiftNames.escaped(relation.name)) = relation("
                if head.count + relation.arguments.count + 5 <= Self.width {
                    writer.line("\(head)\(relation.arguments))")
                } else {
                    writer.line(head)
                    writer.line("    \(relation.arguments))")
                }
            }
        }
    }
}
