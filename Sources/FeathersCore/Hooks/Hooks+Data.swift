extension Hooks {
    /// Checks the data of calls before they run.
    ///
    /// ```swift
    /// await messages.addHooks(.validating(.create) { data in
    ///     guard data["text"]?.string?.isEmpty == false else { throw FeathersError(.badRequest, "A message needs text") }
    /// })
    /// ```
    /// Of several records created at once, each is checked.
    /// - Parameters:
    ///   - scopes: the methods whose data is checked.
    ///   - check: throws what is wrong with one record.
    public static func validating(
        _ scopes: HookScope..., check: @escaping @Sendable (_ data: JSONValue) async throws -> Void
    ) -> Hooks {
        before(scopes) { context in
            switch context.data ?? .null {
            case .array(let records) where context.method == .create:
                for record in records { try await check(record) }
            case let data:
                try await check(data)
            }
        }
    }

    /// Sets a property of the data before a call runs; of several records created at once, in each.
    /// - Parameters:
    ///   - property: the property's name.
    ///   - scopes: the methods whose data is changed.
    ///   - value: makes the value, once for each record.
    public static func setting(
        _ property: String, on scopes: HookScope..., to value: @escaping @Sendable (HookContext) async throws -> JSONValue
    ) -> Hooks {
        before(scopes) { context in
            if case .array(var records)? = context.data, context.method == .create {
                for index in records.indices { records[index][property] = try await value(context) }
                context.data = .array(records)
            } else {
                var data = context.data ?? [:]
                data[property] = try await value(context)
                context.data = data
            }
        }
    }

    private static func before(_ scopes: [HookScope], _ hook: @escaping Hook) -> Hooks {
        var hooks = Hooks()
        for scope in scopes { hooks.before[scope].append(hook) }
        return hooks
    }
}
