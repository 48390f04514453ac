import FeathersSupport

/// The models that readers have decoded from the data of one event, so that each is decoded only once.
///
/// Readers share a model if they decode it with the app's codec, or come from the same ``Service`` value.
final class SharedDecodings: Sendable {
    private struct Entry: Sendable {
        let type: ObjectIdentifier
        /// The format whose codec decoded it; nil for the app's codec.
        let format: RecordFormat?
        /// A ``Decoded`` of the type.
        let decoded: any Sendable & AnyObject
    }

    private final class Decoded<Model: Sendable>: Sendable {
        let result: Result<Model, any Error>

        init(_ result: Result<Model, any Error>) { self.result = result }
    }

    private let entries = Locked<[Entry]>([])

    /// Returns the model that a reader has decoded, or decodes it for all of them. The others wait meanwhile.
    /// - Throws: The error of decoding, for each reader.
    func value<Model: Sendable>(of type: Model.Type, _ format: RecordFormat?, decode: () throws -> Model) throws
        -> Model
    {
        try entries.withLock { entries in
            let type = ObjectIdentifier(type)
            if let entry = entries.first(where: { $0.type == type && $0.format === format }) {
                return unsafeDowncast(entry.decoded, to: Decoded<Model>.self)
            }
            let decoded = Decoded(Result { try decode() })
            entries.append(Entry(type: type, format: format, decoded: decoded))
            return decoded
        }
        .result.get()
    }
}
