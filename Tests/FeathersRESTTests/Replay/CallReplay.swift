import FeathersCore
import FeathersSupport

@testable import FeathersREST

/// Drives one recorded call through our transport and compares both ends.
struct CallReplay {
    typealias LaneMaker = @Sendable ([RecordedExchange]) async throws -> any ReplayLane

    let recordedCase: RecordedCase
    let exchanges: [RecordedExchange]
    let makeLane: LaneMaker
    private(set) var findings: [ReplayFinding] = []
    /// The items of the result, if it was streamed.
    private(set) var items: [JSONValue]?

    init(_ recordedCase: RecordedCase, _ exchanges: [RecordedExchange], _ makeLane: @escaping LaneMaker) {
        self.recordedCase = recordedCase
        self.exchanges = exchanges
        self.makeLane = makeLane
    }

    /// Whether the recording ends without an answer.
    private var isAborted: Bool { exchanges.last?.response == nil }

    /// Replays the call.
    /// - Returns: What our transport gave its caller.
    mutating func run() async throws -> Result<JSONValue, any Error> {
        guard let first = exchanges.first else { throw ReplayFailure("A call without exchanges") }
        var request = first.request.serviceRequest(isVersion6: recordedCase.isVersion6)
        request.streamsResult = exchanges.last?.response?.isEventStream == true
        var lane = try await makeLane(exchanges)
        var result = await send(request, limits, lane)
        if let refusal = refusal(in: result), refusal.message.hasPrefix("Query not sent") {
            note(.refusedByDefault, first.request.target, refusal.message)
            lane = try await makeLane(exchanges)
            result = await send(request, QueryStringOptions(arrayLimit: nil, depthLimit: nil, pairLimit: nil), lane)
        }
        if let refusal = refusal(in: result) {
            note(.refused, "\(first.request.method) \(first.request.target)", refusal.message)
            // The answer can still be read: some request has to fetch it.
            lane = try await makeLane(exchanges)
            result = await send(ServiceRequest(path: "stand-in", method: .find), limits, lane)
        } else {
            compare(try await lane.sent())
        }
        findings +=
            AnswerComparison(
                recordedCase: recordedCase, response: exchanges.last?.response, result: result, items: items
            ).findings
        return result
    }

    /// The limits of the recorded server: version 5 read arrays of up to 1,000 elements, see `Tests/Support/Wire/README.md`.
    private var limits: QueryStringOptions {
        recordedCase.isVersion6 ? Feathers6Transport.Options().queryOptions : QueryStringOptions(arrayLimit: 1000)
    }

    private mutating func send(
        _ request: ServiceRequest, _ options: QueryStringOptions, _ lane: any ReplayLane
    ) async -> Result<JSONValue, any Error> {
        // Long enough for a request to leave a machine that is busy with every other case.
        let timeout: Duration = isAborted ? .seconds(2) : .seconds(30)
        let transport = RESTTransport(
            lane.baseURL, timeout: timeout, queryOptions: options, sendsEmptyObjects: recordedCase.isVersion6,
            httpClient: lane.httpClient)
        items = nil
        do {
            let response = try await transport.send(request)
            guard let stream = response[ResultStream.self] else { return .success(response.result) }
            items = []
            while let next = try await stream.next() { items? += next }
            return .success(.array(items ?? []))
        } catch {
            return .failure(error)
        }
    }

    private func refusal(in result: Result<JSONValue, any Error>) -> FeathersError? {
        guard case .failure(let error as FeathersError) = result, error.execution == .neverSent,
            error.code == .badRequest
        else {
            return nil
        }
        return error
    }

    private mutating func compare(_ sent: [SentRequest]) {
        if sent.count != exchanges.count {
            note(.target, "\(exchanges.count) requests", "\(sent.count) requests")
        }
        for (recorded, ours) in zip(exchanges.map(\.request), sent) {
            if recorded.method != ours.method { note(.method, recorded.method, ours.method) }
            if recorded.target != ours.target { note(.target, recorded.target, ours.target) }
            let isForm = compareForm(recorded, ours)
            if !isForm { compareBody(recorded.body, ours.body) }
            compareHeaders(recorded, ours, except: isForm ? ["content-type"] : [])
        }
    }

    /// Compares forms up to their boundaries.
    /// - Returns: Whether a form was recorded.
    private mutating func compareForm(_ recorded: RecordedRequest, _ ours: SentRequest) -> Bool {
        guard let boundary = recorded.multipartBoundary, let body = recorded.body, !recordedCase.isRaw else {
            return false
        }
        let own = ours.header("content-type")?.dropped(prefix: "multipart/form-data; boundary=") ?? ""
        let (theirs, mine) = (
            RecordedForm.comparable(body.bytes, boundary: boundary), RecordedForm.comparable(ours.body, boundary: own)
        )
        if theirs != mine { note(.body, theirs, mine) }
        return true
    }

    private mutating func compareBody(_ recorded: RecordedBody?, _ ours: [UInt8]) {
        if let recorded, !recorded.isWhole {
            note(.clipped, recorded.text, "")
        } else if recorded?.bytes ?? [] != ours {
            note(.body, recorded?.text ?? "(none)", String(decoding: ours, as: UTF8.self))
        }
    }

    private mutating func compareHeaders(_ recorded: RecordedRequest, _ ours: SentRequest, except ignored: Set<String>)
    {
        var names: Set<String> = ["accept", "content-type", "x-service-method", "authorization"]
        for field in recorded.headers where !RecordedRequest.clientFields.contains(field.name.lowercased()) {
            names.insert(field.name.lowercased())
        }
        for name in names.subtracting(ignored).sorted() where recorded.header(name) != ours.header(name) {
            note(.header(name), recorded.header(name) ?? "(none)", ours.header(name) ?? "(none)")
        }
    }

    private mutating func note(_ aspect: ReplayFinding.Aspect, _ recorded: String, _ ours: String) {
        findings.append(ReplayFinding(recordedCase: recordedCase, aspect: aspect, recorded: recorded, ours: ours))
    }
}
