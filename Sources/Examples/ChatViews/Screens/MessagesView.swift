#if canImport(SwiftUI)
    import Feathers
    import SwiftUI

    /// The messages of the open channel with their authors, and a field for a new one.
    struct MessagesView: View {
        @Bindable var model: ChatModel

        @State private var draft: DraftModel<ChatMessage>?

        var body: some View {
            VStack(alignment: .leading) {
                List {
                    if model.hasMore { Button("Earlier messages") { Task { await model.showEarlier() } } }
                    ForEach(model.rows) { row in
                        MessageRow(row: row)
                            .swipeActions {
                                if model.canEdit(row) { Button("Edit") { Task { draft = await model.edit(row) } } }
                            }
                    }
                }
                if let problem = model.problem { Text(problem).foregroundStyle(.red) }
                HStack {
                    TextField("Message", text: $model.draft).onSubmit { Task { await model.send() } }
                    Button("Send") { Task { await model.send() } }.disabled(model.draft.isEmpty)
                }
                .padding()
            }
            .navigationTitle(model.room)
            .task(id: model.rows.last?.id) { await model.markRead() }
            .sheet(item: $draft) { DraftView(draft: $0) }
        }
    }

    /// A message with its author. It is gray until the server has it, and red if the server refuses it.
    struct MessageRow: View {
        let row: LiveRow<ChatMessage>

        var body: some View {
            VStack(alignment: .leading) {
                Text(row[ChatMessage.author]?.name ?? "…").font(.caption)
                Text(row.text).foregroundStyle(row.state == .confirmed ? .primary : .secondary)
                if case .failed(let failure) = row.state {
                    Text(failure.error.userMessage).foregroundStyle(.red)
                }
            }
        }
    }

    #Preview { List(ChatMessage.sampleRows) { MessageRow(row: $0) } }
#endif
