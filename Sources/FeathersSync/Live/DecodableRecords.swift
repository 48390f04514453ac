public import FeathersCore

extension FeathersApp {
    /// Whether a live query throws if one of its records cannot be decoded; false by default.
    ///
    /// Without this setting, such a record is left out with a warning in the app's diagnostics, and
    /// ``LiveSnapshot/undecodableCount`` says how many there are. `find` and `get` throw in any case, unless
    /// ``Params/skipsUndecodableRecords`` is set. Set it before you make live queries. Related records are left out in
    /// any case.
    public var requiresDecodableRecords: Bool {
        get { self[RequiresDecodableRecords.self] ?? false }
        set { self[RequiresDecodableRecords.self] = newValue }
    }

    private enum RequiresDecodableRecords: AppSetting { typealias Value = Bool }
}
