/// What every node of one decoding shares.
final class DecodingOptions {
    let coding: CodingOptions
    /// nil where keys stay as they are.
    let keys: CodedKeys?
    /// What the nodes' places point into.
    private let text: JSONTape?

    init(_ coding: CodingOptions, text: JSONTape? = nil) {
        self.coding = coding
        self.text = text
        keys = coding.keys.converts ? CodedKeys(coding.keys) : nil
    }
}
