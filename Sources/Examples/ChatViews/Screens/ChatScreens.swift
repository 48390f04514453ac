#if canImport(SwiftUI)
    import Feathers
    import Foundation
    package import SwiftUI

    /// All screens of the chat, on the server that comes with this package.
    package struct ChatScreens: View {
        @State private var model: ChatModel?
        @State private var problem: String?

        package init() {}

        package var body: some View {
            Group {
                if let model { ChannelsView(model: model) } else { Text(problem ?? "Opening…") }
            }
            .task { await open() }
        }

        private func open() async {
            guard model == nil, let url = URL(string: "http://localhost:3030") else { return }
            do {
                let folder = URL.applicationSupportDirectory.appending(path: "feathers-demo")
                model = ChatModel(
                    try await ChatModel.app(.socketIO(url), in: folder, tokens: KeychainTokenStorage()))
            } catch {
                problem = error.userMessage
            }
        }
    }
#endif
