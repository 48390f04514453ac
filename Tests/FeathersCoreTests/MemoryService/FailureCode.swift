import FeathersCore

/// The code of the error a call fails with; nil where it succeeds or fails with something else.
func failureCode(isolation: isolated (any Actor)? = #isolation, _ call: () async throws -> JSONValue) async
    -> FeathersError.Code?
{
    do {
        _ = try await call()
        return nil
    } catch {
        return (error as? FeathersError)?.code
    }
}
