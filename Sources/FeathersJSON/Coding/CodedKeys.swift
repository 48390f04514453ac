/// The keys of the properties met in one encoding or decoding: a list asks for the same few again and again.
final class CodedKeys {
    private let format: JSONKeyFormat
    private var known: [String: String] = [:]

    init(_ format: JSONKeyFormat) {
        self.format = format
    }

    /// The key of a property.
    func key(of property: String) -> String {
        if let key = known[property] { return key }
        let key = format.key(of: property)
        known[property] = key
        return key
    }

    /// The property of a key.
    func property(of key: String) -> String {
        format.property(of: key)
    }
}

/// Dictionaries whose keys are data and not names of properties.
protocol DictionaryOfStrings {}

extension Dictionary: DictionaryOfStrings where Key == String {}
