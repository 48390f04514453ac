#if canImport(SwiftUI)
    import Feathers
    import SwiftUI

    /// The first screen: an email and a password.
    struct SignInView: View {
        @Bindable var model: ChatModel

        var body: some View {
            Form {
                TextField("Email", text: $model.email)
                SecureField("Password", text: $model.password)
                Button("Sign in") { Task { await model.signIn() } }.disabled(model.session.isSigningIn)
                if let problem = model.signInProblem { Text(problem).foregroundStyle(.red) }
            }
            .navigationTitle("Sign in")
        }
    }

    #Preview { SignInView(model: .sample) }
#endif
