/// How to hear of an app's sign-ins.
///
/// Set by what signs an app in, and read by what waits for it: neither needs to know the other.
package enum SignIns: AppSetting {
    /// Calls a function with every sign-in, the present one first, until the task is cancelled.
    package typealias Value = @Sendable (_ onSignIn: @Sendable () -> Void) async -> Void
}
