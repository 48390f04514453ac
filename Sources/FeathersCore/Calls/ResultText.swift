import FeathersSupport

/// Where a transport leaves the text of a result, in place of its tree, for a caller who makes a model of it.
///
/// Such a transport returns JSON null then, and leaves nothing where it fails. One request of a service has one of its own, so that no two answers
/// meet in it.
package final class ResultText: Sendable {
    private let text = Locked<JSONTape?>(nil)

    package init() {}

    package func leave(_ text: JSONTape) {
        self.text.withLock { $0 = text }
    }

    var left: JSONTape? { text.withLock { $0 } }
}
