/// The account that the quickstart signs in with. Printing and dumping it show only the email address.
struct Account: Equatable {
    var email: String
    var password: String
}

extension Account: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { email }
    var debugDescription: String { email }
    var customMirror: Mirror { Mirror(self, children: ["email": email]) }
}
