public import MynahCore
import MynahHCI

// Advertising.
extension HostRadio {
    /// Starts advertising, or changes what is advertised.
    ///
    /// Throws `advertisementRefused` if it does not fit or the controller refuses it; nothing is advertised then.
    @discardableResult
    public func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        guard life.isRunning else {
            throw RadioError(.invalidState, "a device can be advertised while the radio runs")
        }
        let configuration = try HostAdvertiser.Configuration(advertisement)
        let number = change { advertiser, _, _ in advertiser.want(configuration) }
        await settled(.advertiser)
        let verdict = controller.advertiser.verdict(on: number)
        switch verdict {
        case .onAir: break
        case .waitsForLinkEnd:
            warn(
                "advertisingWaits",
                "\(options.controller) cannot advertise while it is connected; it advertises again after a link ends"
            )
        case .refused(let step, let status):
            throw controller.refusal(step.purpose, status, .advertisementRefused)
        case .replaced:
            guard controller.advertiser.number != nil else {
                throw RadioError(.invalidState, "advertising was stopped before it began")
            }
        case .lost:
            // The caller learns that it failed, so it does not begin later by itself.
            change { advertiser, _, _ in advertiser.stop() }
            throw life.loss ?? controller.loss()
        }
        let report = configuration.report(from: ownAddress)
        controller.announce(report, of: number)
        return report
    }

    /// Stops advertising.
    public func stopAdvertising() async {
        change { advertiser, _, _ in advertiser.stop() }
        await settled(.advertiser)
    }

    /// Reports that nothing is advertised any more, if the controller refused what nobody waits for.
    func reportLostAdvertisement() {
        guard let error = controller.takeLostAnnouncement() else { return }
        warn("advertisingLost", "the device is not advertised any more: \(error)")
        tell(.advertisingChanged(.silent))
    }
}
