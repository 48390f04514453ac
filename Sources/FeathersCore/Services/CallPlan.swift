/// All that a call of one method needs, shared by its calls. A class, so that handing it out counts one reference.
final class CallPlan: Sendable {
    let implementation: any ServiceProtocol
    let pipeline: HookPipeline
    /// The event the app emits after the method, if any.
    let event: EventName?
    /// Whether a call may make others before it ends, from its hooks or its service.
    let mayCallOthers: Bool
    /// The implementation where it gives results as the texts they came in, and no hook is there to look at them.
    let textService: (any TextService)?

    init(implementation: any ServiceProtocol, pipeline: HookPipeline, event: EventName?) {
        self.implementation = implementation
        self.pipeline = pipeline
        self.event = event
        mayCallOthers = pipeline.first != nil || !(implementation is TransportService || implementation is MemoryService)
        let textService = pipeline.looksAtResults ? nil : implementation as? any TextService
        self.textService = textService?.givesText == true ? textService : nil
    }
}

/// The plans of a service's methods. Plans of an older generation of the app's hooks are not found.
struct CallPlanCache: Sendable {
    private var generation = -1
    private var plans: [ServiceMethod: CallPlan] = [:]
    /// Feathers' six methods have places of their own: they are looked up on every call.
    private var standard: (find: CallPlan?, get: CallPlan?, create: CallPlan?, update: CallPlan?, patch: CallPlan?, remove: CallPlan?)

    subscript(method: ServiceMethod, generation: Int) -> CallPlan? {
        get {
            guard generation == self.generation else { return nil }
            return switch method {
            case .find: standard.find
            case .get: standard.get
            case .create: standard.create
            case .update: standard.update
            case .patch: standard.patch
            case .remove: standard.remove
            case .custom: plans[method]
            }
        }
        set {
            if generation != self.generation {
                self = CallPlanCache()
                self.generation = generation
            }
            switch method {
            case .find: standard.find = newValue
            case .get: standard.get = newValue
            case .create: standard.create = newValue
            case .update: standard.update = newValue
            case .patch: standard.patch = newValue
            case .remove: standard.remove = newValue
            case .custom: plans[method] = newValue
            }
        }
    }
}
