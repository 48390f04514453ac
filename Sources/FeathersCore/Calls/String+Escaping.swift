extension String {
    /// Returns the text with some of its characters replaced.
    package func escaping(_ spellings: KeyValuePairs<Unicode.Scalar, String>) -> String {
        var escaped = ""
        for scalar in unicodeScalars {
            if let spelling = spellings.first(where: { $0.key == scalar })?.value {
                escaped += spelling
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
