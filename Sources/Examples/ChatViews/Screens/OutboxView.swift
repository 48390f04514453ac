#if canImport(SwiftUI)
    import Feathers
    import SwiftUI

    /// The writes that the server has not confirmed, with what the user may do about those that failed.
    struct OutboxView: View {
        let outbox: OutboxModel

        var body: some View {
            List(outbox.entries) { entry in
                VStack(alignment: .leading) {
                    Text(ChatModel.text(of: entry.write))
                    if let failure = entry.failure {
                        Text(failure.error.userMessage).foregroundStyle(.red)
                        Button("Send again") { Task { await outbox.retry(entry.id) } }
                        Button("Discard", role: .destructive) { Task { await outbox.discard(entry.id) } }
                    }
                }
            }
            .overlay { if outbox.entries.isEmpty { Text("Everything is sent.").foregroundStyle(.secondary) } }
            .navigationTitle("Outbox")
        }
    }

    #Preview { OutboxView(outbox: ChatModel.sample.outbox) }
#endif
