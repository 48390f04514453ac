#if canImport(FoundationNetworking)
    import CCurl
    import FeathersSupport
    import Foundation

    /// The transfers of a client: starts, drives, times out, and ends them. Not `Sendable`, because it lives on the
    /// driver's thread only.
    final class CurlMulti {
        /// The maximum number of idle handles to keep for later exchanges.
        private static let idleLimit = 64

        private let multi: UnsafeMutableRawPointer
        private let settings: CurlSettings
        private var running: [ObjectIdentifier: CurlTransfer] = [:]
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
        /// A lower bound for the deadlines of all running exchanges. It may be too early, because it isn't recalculated
        /// when an exchange ends.
        private var earliestDeadline: ContinuousClock.Instant?

        init(_ multi: UnsafeMutableRawPointer, _ settings: CurlSettings) {
            self.multi = multi
            self.settings = settings
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
            case .cancelAll: endAll(with: HTTPClientError.allCancelled)
            }
        }

        private func start(_ exchange: CurlExchange) {
            // The caller may have been cancelled before the command arrived.
            if exchange.response.isSettled { return }
            guard let transfer = idle.popLast() ?? CurlTransfer(settings, self) else {
                exchange.finish(
                    .failure(
                        HTTPClientError(.other, "libcurl is out of memory", host: exchange.host, delivery: .neverSent)))
                return
            }
            do {
                try transfer.begin(exchange)
            } catch {
                exchange.finish(.failure(error))
                return keep(transfer)
            }
            guard curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
                transfer.end(
                    with: .failure(
                        HTTPClientError(.other, "A call to libcurl failed", host: exchange.host, delivery: .neverSent)))
                return
            }
            running[ObjectIdentifier(exchange)] = transfer
            if let deadline = transfer.deadline { earliestDeadline = min(earliestDeadline ?? deadline, deadline) }
        }

        /// Drops an exchange whose caller was cancelled. Closes its connection, unless the connection also carries
        /// others (HTTP/2).
        private func abandon(_ exchange: CurlExchange) {
            guard let transfer = running.removeValue(forKey: ObjectIdentifier(exchange)) else { return }
            giveUp(transfer, with: HTTPClientError(.other, "The request was abandoned", host: exchange.host))
        }

        /// Continues an exchange that was paused by its reader, or by the stream of its body.
        private func resume(_ exchange: CurlExchange) {
            guard let transfer = running[ObjectIdentifier(exchange)] else { return }
            transfer.resume()
            passOn()
            if let deadline = transfer.deadline { earliestDeadline = min(earliestDeadline ?? deadline, deadline) }
        }

        /// Does the work that is ready. Returns `false` if libcurl cannot continue.
        func perform() -> Bool {
            var count: Int32 = 0
            guard curl_multi_perform(multi, &count) == CURLM_OK else { return false }
            passOn()
            endFinished()
            expire()
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
            if let earliestDeadline { milliseconds = ContinuousClock.now.duration(to: earliestDeadline).milliseconds }
            return curl_multi_poll(multi, nil, 0, milliseconds, nil) == CURLM_OK
        }

        /// Ends every transfer; the handles stay usable.
        func endAll(with error: (_ host: String?, _ delivery: HTTPClientError.Delivery?) -> HTTPClientError) {
            let ended = running.values
            running = [:]
            for transfer in ended { giveUp(transfer, with: error(transfer.exchange?.host, transfer.delivery)) }
        }

        private func endFinished() {
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left)?.pointee {
                guard message.msg == CURLMSG_DONE, let easy = message.easy_handle else { continue }
                var context: UnsafeMutableRawPointer?
                guard ccurl_get_pointer(easy, CURLINFO_PRIVATE, &context) == CURLE_OK, let context else { continue }
                let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
                curl_multi_remove_handle(multi, easy)
                if let exchange = transfer.exchange { running[ObjectIdentifier(exchange)] = nil }
                lingering[ObjectIdentifier(transfer)] = nil
                transfer.end(message.data.result)
                keep(transfer)
            }
        }

        private func expire() {
            guard let earliest = earliestDeadline else { return }
            let now = ContinuousClock.now
            guard earliest <= now else { return }
            earliestDeadline = nil
            for (key, transfer) in running {
                guard let exchange = transfer.exchange, let deadline = transfer.deadline else { continue }
                guard deadline <= now else {
                    earliestDeadline = min(earliestDeadline ?? deadline, deadline)
                    continue
                }
                running[key] = nil
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

    extension Duration {
        /// The duration in whole milliseconds, rounded up and clamped to what timers accept.
        var milliseconds: Int32 {
            let (seconds, attoseconds) = clamped.components
            return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
    }
#endif
