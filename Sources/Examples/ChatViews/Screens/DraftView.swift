#if canImport(SwiftUI)
    import Feathers
    import SwiftUI

    /// A copy of a message that is being edited, which follows what others do to the message.
    struct DraftView: View {
        @Bindable var draft: DraftModel<ChatMessage>

        @Environment(\.dismiss) private var dismiss

        var body: some View {
            Form {
                TextField("Message", text: $draft.value.text)
                if draft.isRemoved { Text("The message was removed.").foregroundStyle(.red) }
                ForEach(draft.conflicts, id: \.property) { conflict in
                    Text("Someone else has changed “\(conflict.property)”.")
                    Button("Keep mine") { draft.resolve(conflict.property, with: .mine) }
                    Button("Take theirs") { draft.resolve(conflict.property, with: .theirs) }
                }
                if let error = draft.error { Text(error.userMessage).foregroundStyle(.red) }
                // Without a connection too: the outbox sends it later.
                Button("Save") { Task { if await draft.queue() { dismiss() } } }
                    .disabled(!draft.hasChanges || draft.isSaving)
                Button("Cancel", role: .cancel) { dismiss() }
            }
            .task { await draft.run() }
        }
    }

    #Preview {
        @Previewable @State var draft: DraftModel<ChatMessage>?
        Group {
            if let draft { DraftView(draft: draft) }
        }
        .task { draft = try? await ChatMessage.sampleDraft() }
    }
#endif
