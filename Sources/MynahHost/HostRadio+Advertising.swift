public import MynahCore
import MynahHCI
import MynahSupport

// Advertising, byte for byte.
extension HostRadio {
    /// The shortest interval of connectable legacy advertising, 20 ms (Core Specification, Vol 6, Part B, 4.4.2.2).
    static let shortestInterval: UInt16 = 0x0020
    /// What is used where none is asked for: 100 ms.
    static let defaultInterval: UInt16 = 0x00A0

    /// Starts advertising, or changes what is advertised.
    ///
    /// Throws `advertisementRefused` if it does not fit or the controller refuses it; nothing is advertised then.
    @discardableResult
    public func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        guard state == .running else {
            throw RadioError(.invalidState, "a device can be advertised while the radio runs")
        }
        let bytes: ExactAdvertisement
        do throws(AdvertisementError) {
            bytes = try AccessoryAdvertising.compose(advertisement)
        } catch {
            throw RadioError(.advertisementRefused, "the advertisement does not fit: \(error)")
        }
        let interval = Self.interval(of: advertisement)
        let number = advertiser.want(
            .init(
                interval: interval, isConnectable: advertisement.isConnectable, data: bytes.data.bytes,
                scanResponse: bytes.scanResponse.bytes))
        let loss = await settleAdvertising()
        let verdict = advertiser.verdict(on: number)
        // The caller learns that it failed, so it does not begin later by itself.
        if verdict == .lost { advertiser.stop() }
        try check(verdict, loss)
        let exact = Duration.microseconds(Int64(interval) * 625)
        let report = AdvertisingReport(
            isOn: true, data: bytes.data.bytes, scanResponse: bytes.scanResponse.bytes,
            interval: exact...exact, isConnectable: advertisement.isConnectable, address: ownAddress)
        // Of two requests at one time the later one goes on the air.
        if verdict != .replaced { reported = report }
        return report
    }

    /// Stops advertising.
    public func stopAdvertising() async {
        advertiser.stop()
        reported = .silent
        await settleAdvertising()
    }

    /// Returns once the controller advertises as wanted, refused to, or was lost, with why it was.
    @discardableResult
    func settleAdvertising() async -> RadioError? {
        if let advertising { return await advertising.value }
        guard let first = advertiser.next() else { return nil }
        let task = Task { () -> RadioError? in
            defer { advertising = nil }
            var step: HostAdvertiser.Step? = first
            var loss: RadioError?
            while let next = step {
                let run = run
                let (outcome, error) = await carryOut(next)
                // The answer of a controller that was lost says nothing of the next one.
                if run == self.run { advertiser.finished(outcome) }
                loss = error
                step = advertiser.next()
            }
            return loss
        }
        advertising = task
        return await task.value
    }

    /// After a link began or ended, or the controller came back: nobody waits for the advertisement.
    func advertiseAgain() {
        Task {
            let number = advertiser.number
            await settleAdvertising()
            if let number { giveUpIfRefused(number) }
        }
    }

    /// Reports that nothing is advertised any more, if the controller refused what nobody waits for.
    func giveUpIfRefused(_ number: UInt64) {
        guard case .refused = advertiser.verdict(on: number), reported.isOn else { return }
        reported = .silent
        do throws(RadioError) {
            try check(advertiser.verdict(on: number), nil)
        } catch {
            warn("advertisingLost", "the device is not advertised any more: \(error)")
        }
        tell(.advertisingChanged(.silent))
    }

    private func check(_ verdict: HostAdvertiser.Verdict, _ loss: RadioError?) throws(RadioError) {
        switch verdict {
        case .onAir: break
        case .waitsForLinkEnd:
            warn(
                "advertisingWaits",
                "\(options.controller) cannot advertise while it is connected; it advertises again after a link ends"
            )
        case .refused(let step, let status):
            throw RadioError(
                .advertisementRefused,
                "\(options.controller) refused \(step.purpose): status 0x\(Hex.encode([status.code]))")
        case .replaced where advertiser.number != nil: break
        case .replaced:
            throw RadioError(.invalidState, "advertising was stopped before it began")
        case .lost:
            throw loss ?? RadioError(.lost, "\(options.controller) is gone")
        }
    }

    // MARK: Steps

    /// Carries out a step, and returns how it ended; the error says why the controller was lost.
    private func carryOut(_ step: HostAdvertiser.Step) async -> (HostAdvertiser.Outcome, RadioError?) {
        guard let command = HCICommand(step, style: chooseStyle(), address: ownAddress) else {
            return (.done, nil)
        }
        switch await exchange(command) {
        case .success: return (.done, nil)
        case .failure(.refused(let status)): return (.refused(status), nil)
        case .failure(let failure):
            return (.lost, error(of: failure, command.opcode, step.purpose))
        }
    }

    /// In 0.625 ms, within what a controller takes.
    private static func interval(of advertisement: Advertisement) -> UInt16 {
        guard let wanted = advertisement.interval else { return defaultInterval }
        let (seconds, attoseconds) = wanted.components
        guard seconds < 11 else { return 0x4000 }
        let microseconds = max(0, seconds) * 1_000_000 + attoseconds / 1_000_000_000_000
        return UInt16(clamping: min(max((microseconds + 312) / 625, Int64(shortestInterval)), 0x4000))
    }
}
