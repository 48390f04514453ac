/// Who the quickstart signs in as. Printing and dumping it show the e-mail address alone.
struct Account: Equatable {
    var email: String
    var password: String
}

extension Account: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { email }
    var debugDescription: String { email }
    var customMirror: Mirror { Mirror(self, children: ["email": email]) }
}
