/// Decodes records of one text one by one, each as if it stood alone.
package struct JSONListDecoder {
    /// Around the records, which look alike mostly: it remembers where they have what.
    private let list: DecodingNode

    package init(_ options: CodingOptions, text: JSONTape) {
        list = DecodingNode(source: .text(text.root), options: DecodingOptions(options, text: text))
    }

    package func decode<T: Decodable>(_ type: T.Type, from record: DecodingSource) throws -> T {
        try DecodingNode(source: record, parent: list, step: .root).decodeWhole(type)
    }
}
