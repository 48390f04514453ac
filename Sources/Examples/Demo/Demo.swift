// A chat of five screens, on `ChatViews`. In Xcode, open this package, choose the scheme Demo, and run it on My Mac; start
// the development server first, and sign in as alice@example.com with the password p4ssw0rd.

#if canImport(SwiftUI)
    import ChatViews
    import SwiftUI

    @main
    struct Demo: App {
        var body: some Scene {
            WindowGroup("feathers-swift") { ChatScreens() }
        }
    }
#else
    @main
    enum Demo {
        static func main() {
            print("The demo needs SwiftUI. On this system, try the terminal chat: swift run Chat --help")
        }
    }
#endif
