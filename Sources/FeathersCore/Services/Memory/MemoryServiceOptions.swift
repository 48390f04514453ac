extension MemoryService {
    /// What a memory service is made with.
    struct Options: Sendable {
        let id: String
        let multi: MultipleRecords
        let pagination: Pagination?
        let operators: [QueryOperator]
        let makeID: (@Sendable (JSONObject) -> ServiceID)?
    }

    /// Which methods may work on several records at once: FeathersJS' `multi` option.
    public struct MultipleRecords: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// `create` with an array.
        public static let create = MultipleRecords(rawValue: 1)
        /// `patch` with the null id.
        public static let patch = MultipleRecords(rawValue: 2)
        /// `remove` with the null id.
        public static let remove = MultipleRecords(rawValue: 4)

        /// No method, FeathersJS' default.
        public static let none: MultipleRecords = []
        /// Every method.
        public static let all: MultipleRecords = [.create, .patch, .remove]
    }
}
