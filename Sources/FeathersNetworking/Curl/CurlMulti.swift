#if canImport(FoundationNetworking)
    import CCurl
    import FeathersSupport
    import Foundation

    /// The transfers of a client: starts, drives, times out, and ends them. An exchange that waits for a connection has
    /// no transfer. Not `Sendable`, because it lives on the driver's thread only.
    final class CurlMulti {
        /// The maximum number of idle handles to keep for later exchanges.
        private static let idleLimit = 64

        private let multi: UnsafeMutableRawPointer
        private let settings: CurlSettings
        private var running: [ObjectIdentifier: CurlTransfer] = [:]
        private let noteWaiting: (Int) -> Void
        private var waiting: [ObjectIdentifier: CurlExchange] = [:] { didSet { noteWaiting(waiting.count) } }
        /// The turns of each host's exchanges. A host without exchanges has no entry.
        private var turns: [String: TurnQueue<ObjectIdentifier>] = [:]
        /// The hosts of exchanges whose turns have ended, which are passed on once those that have timed out are gone.
        private var endedTurns: [String] = []
        private var deadlines = DeadlineTable<ObjectIdentifier>()
        private var idleLimits = IdleLimits()
        private var idle: [CurlTransfer] = []
        /// Transfers that have bytes for their readers.
        private var arrived: [CurlTransfer] = []
        private var pace = ReadPace()
        /// The number of pieces that have arrived since the last wait.
        private var pieces = 0
        /// Transfers that ended during name resolution. libcurl finishes them, and they send nothing.
        private var lingering: [ObjectIdentifier: CurlTransfer] = [:]
        /// Before libcurl 7.87, removing a transfer blocks the thread until its host name is resolved.
        private let lingers = (try? Libcurl.version.get()).map { $0 < 0x07_57_00 } ?? false

        /// - Parameter noteWaiting: Receives the number of exchanges that wait for a connection, when it changes.
        init(
            _ multi: UnsafeMutableRawPointer, _ settings: CurlSettings, noteWaiting: @escaping (Int) -> Void = { _ in }
        ) {
            (self.multi, self.settings, self.noteWaiting) = (multi, settings, noteWaiting)
        }

        deinit {
            // Connections belong to the multi handle, which must outlive the easy handles that used them.
            for transfer in lingering.values { curl_multi_remove_handle(multi, transfer.easy) }
            lingering.removeAll()
            idle.removeAll()
            curl_multi_cleanup(multi)
        }

        func execute(_ command: CurlDriver.Command) {
            switch command {
            case .start(let exchange): start(exchange)
            case .abandon(let exchange): abandon(exchange)
            case .resume(let exchange): resume(exchange)
            case .end(let round, let error): end(round, with: error)
            }
        }

        private func start(_ exchange: CurlExchange) {
            // The caller may have been cancelled before the command arrived.
            if exchange.response.isSettled { return }
            guard exchange.takesTurn else { return begin(exchange) }
            let key = ObjectIdentifier(exchange)
            let entry = turns[exchange.host, default: settings.turnQueue].enter(Int(bitPattern: key), key)
            switch entry {
            case .goes: begin(exchange)
            case .waits:
                waiting[key] = exchange
                deadlines.set(exchange.deadline, for: key)
            case .isFull:
                exchange.finish(
                    .failure(
                        HTTPClientError(
                            .overloaded,
                            "\(settings.maximumWaitingRequestsPerHost) requests already wait for a connection",
                            host: exchange.host)))
            }
        }

        /// Begins an exchange that has a turn, or needs none.
        private func begin(_ exchange: CurlExchange) {
            let key = ObjectIdentifier(exchange)
            do throws(HTTPClientError) {
                guard let transfer = idle.popLast() ?? CurlTransfer(settings, self) else {
                    throw HTTPClientError(.other, "libcurl is out of memory", delivery: .neverSent)
                }
                do {
                    try transfer.begin(exchange, idleLimit: idleLimits[exchange.host, settings])
                } catch {
                    keep(transfer)
                    throw error
                }
                guard curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
                    throw HTTPClientError(.other, "A call to libcurl failed", delivery: .neverSent)
                }
                running[key] = transfer
                deadlines.set(transfer.deadline, for: key)
            } catch {
                exchange.finish(.failure(error))
                endTurn(of: exchange)
            }
        }

        private func endTurn(of exchange: CurlExchange) {
            deadlines.set(nil, for: ObjectIdentifier(exchange))
            if exchange.takesTurn { endedTurns.append(exchange.host) }
        }

        /// Begins the exchanges for which turns have become free.
        private func passOnTurns() {
            while let host = endedTurns.popLast() {
                if let next = turns[host]?.leave() {
                    if let exchange = waiting.removeValue(forKey: next) { begin(exchange) }
                } else if turns[host]?.running == 0 {
                    turns[host] = nil
                }
            }
        }

        /// Removes an exchange that waits; nil if it does not.
        private func stopWaiting(_ key: ObjectIdentifier) -> CurlExchange? {
            guard let exchange = waiting.removeValue(forKey: key) else { return nil }
            _ = turns[exchange.host]?.giveUp(Int(bitPattern: key))
            deadlines.set(nil, for: key)
            return exchange
        }

        /// Drops an exchange whose caller was cancelled. Closes its connection, unless the connection also carries
        /// others (HTTP/2).
        private func abandon(_ exchange: CurlExchange) {
            let key = ObjectIdentifier(exchange)
            guard stopWaiting(key) == nil, let transfer = running.removeValue(forKey: key) else { return }
            endTurn(of: exchange)
            giveUp(transfer, with: HTTPClientError(.other, "The request was abandoned", host: exchange.host))
        }

        /// Continues an exchange that was paused by its reader, or by the stream of its body.
        private func resume(_ exchange: CurlExchange) {
            guard let transfer = running[ObjectIdentifier(exchange)] else { return }
            transfer.resume()
            passOn()
            deadlines.set(transfer.deadline, for: ObjectIdentifier(exchange))
        }

        /// Does the work that is ready. Returns `false` if libcurl cannot continue.
        func perform() -> Bool {
            var count: Int32 = 0
            guard curl_multi_perform(multi, &count) == CURLM_OK else { return false }
            passOn()
            endFinished()
            expire()
            passOnTurns()
            return true
        }

        /// Lets a transfer pass on what has arrived once libcurl has nothing more to read for now.
        func noteArrival(of transfer: CurlTransfer) { arrived.append(transfer) }

        /// Counts a piece of a streamed body.
        func countPiece() { pieces += 1 }

        private func passOn() {
            for transfer in arrived { transfer.passOn() }
            arrived.removeAll(keepingCapacity: true)
        }

        /// Waits for sockets, libcurl's own timers, the next deadline or `curl_multi_wakeup`.
        func wait() -> Bool {
            let naps = pace.naps(at: .now, read: pieces, sent: 0)
            pieces = 0
            // No caller waits for a piece of a stream, as those of other requests wait for their responses.
            if naps, running.values.allSatisfy(\.isPassingOn) { usleep(ReadPace.bodyNap) }
            var milliseconds: Int32 = 3_600_000
            if let deadline = deadlines.earliest {
                milliseconds = ContinuousClock.now.duration(to: deadline).milliseconds
            }
            return curl_multi_poll(multi, nil, 0, milliseconds, nil) == CURLM_OK
        }

        /// Ends the exchanges of a round, or all; the handles stay usable.
        func end(_ round: CurlRound? = nil, with error: CurlRound.End) {
            for (key, exchange) in waiting where round == nil || exchange.round === round {
                _ = stopWaiting(key)
                exchange.finish(.failure(error(exchange.host, .neverSent)))
            }
            for (key, transfer) in running {
                guard let exchange = transfer.exchange, round == nil || exchange.round === round else { continue }
                running[key] = nil
                endTurn(of: exchange)
                giveUp(transfer, with: error(exchange.host, transfer.delivery))
            }
        }

        private func endFinished() {
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left)?.pointee {
                guard message.msg == CURLMSG_DONE, let easy = message.easy_handle else { continue }
                var context: UnsafeMutableRawPointer?
                guard ccurl_get_pointer(easy, CURLINFO_PRIVATE, &context) == CURLE_OK, let context else { continue }
                let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
                curl_multi_remove_handle(multi, easy)
                if let exchange = transfer.exchange {
                    running[ObjectIdentifier(exchange)] = nil
                    idleLimits.note(transfer.head.keepAlive, of: exchange.host)
                    endTurn(of: exchange)
                }
                lingering[ObjectIdentifier(transfer)] = nil
                transfer.end(message.data.result)
                keep(transfer)
            }
        }

        private func expire() {
            guard deadlines.earliest != nil else { return }
            let now = ContinuousClock.now
            for key in deadlines.due(at: now) {
                if let exchange = stopWaiting(key) {
                    let words = "The request timed out while it waited for a connection"
                    let error = HTTPClientError(.timeout, words, host: exchange.host, delivery: .neverSent)
                    exchange.finish(.failure(error))
                }
                guard let transfer = running[key], let exchange = transfer.exchange, let deadline = transfer.deadline
                else { continue }
                // Data has moved since the deadline was set.
                guard deadline <= now else {
                    deadlines.set(deadline, for: key)
                    continue
                }
                running[key] = nil
                endTurn(of: exchange)
                let error = HTTPClientError(
                    .timeout, "The request timed out", host: exchange.host, delivery: transfer.delivery)
                giveUp(transfer, with: error)
            }
        }

        private func giveUp(_ transfer: CurlTransfer, with error: HTTPClientError) {
            if lingers && transfer.isResolving {
                lingering[ObjectIdentifier(transfer)] = transfer
                transfer.end(with: .failure(error))
            } else {
                curl_multi_remove_handle(multi, transfer.easy)
                transfer.end(with: .failure(error))
                keep(transfer)
            }
        }

        private func keep(_ transfer: CurlTransfer) {
            // libcurl may keep the state of a pause in the handle.
            if idle.count < Self.idleLimit, !transfer.hasPaused { idle.append(transfer) }
        }
    }

    /// How long a connection may have been idle when it is used again, in seconds, for hosts that say when they close
    /// idle connections (`Keep-Alive: timeout=5`).
    private struct IdleLimits {
        private var limits: [String: Int] = [:]

        /// A second below the server's limit, so that it does not close a connection on which a request is on its way.
        subscript(host: String, settings: CurlSettings) -> Int {
            min(Int(settings.idleTimeout.clamped.components.seconds), limits[host] ?? .max)
        }

        mutating func note(_ keepAlive: Int?, of host: String) {
            guard let keepAlive, limits[host] != keepAlive - 1 else { return }
            // Forgets the limits of earlier hosts, rather than grow with any number of them.
            if limits.count >= 1000 { limits = [:] }
            limits[host] = keepAlive - 1
        }
    }

    extension Duration {
        /// The duration in whole milliseconds, rounded up and clamped to what timers accept.
        var milliseconds: Int32 {
            let (seconds, attoseconds) = clamped.components
            return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
    }
#endif
