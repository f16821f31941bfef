import MynahCore
import MynahSupport

/// Advertises a device: changes the controller's advertising sets, and reports what is on the air.
///
/// The sets themselves are changed by the state machines of the controller's session. This class is confined
/// to the radio's executor.
final class AdvertisingDriver {
    private let environment: Environment
    private let timer: HostTimer
    private let sinks: RadioSinks
    private let controller: ControllerDriver
    /// Whether as many centrals as allowed were connected when the advertising was last reported.
    private var toldFull = false
    /// The last request that waits for the end of a link, or `nil` if no request waits.
    ///
    /// Only the first request that waits causes a warning.
    private var waiting: HostAdvertisingSets.Number?
    /// The addresses of advertising sets that do not use the device's address.
    var setAddresses = SetAddresses()
    /// The sets of the last request to advertise.
    private var sets: [Advertisement] = []

    init(
        _ environment: Environment, _ timer: HostTimer, _ sinks: RadioSinks, _ controller: ControllerDriver
    ) {
        self.environment = environment
        self.timer = timer
        self.sinks = sinks
        self.controller = controller
    }

    /// Discards the addresses of sets, and the last request.
    func reset() {
        setAddresses.reset()
        sets = []
        timer[.setAddressRotation] = nil
        (toldFull, waiting) = (false, nil)
    }

    /// Starts advertising, or changes the advertisement.
    ///
    /// Throws `advertisementRefused` if the advertisement is too long or the controller refuses it; nothing
    /// is advertised then.
    func advertise(_ advertisement: Advertisement) async throws(RadioError) -> AdvertisingReport {
        guard controller.isRunning else {
            throw controller.unavailable("a device can be advertised only while the radio runs")
        }
        try checkPeriodic(advertisement)
        let wanted = try setAddresses.configurations(of: advertisement.sets, at: environment.now())
        if let need = advertisement.needForExtendedCommands { try controller.useExtendedCommands(for: need) }
        sets = advertisement.sets
        timer[.setAddressRotation] = setAddresses.due(of: sets)
        let number = controller.change { advertiser, _, _ in advertiser.want(wanted) }
        await controller.settled(.advertiser)
        switch controller.session.advertiser.verdict(on: number) {
        case .onAir: waiting = nil
        case .waitsForLinkEnd:
            if waiting == nil { sinks.warn(.advertisingWaits(environment.options.controller)) }
            waiting = number
        case .refused(let step, let status):
            throw controller.session.refusal(step.purpose, status, .advertisementRefused)
        case .replaced:
            guard controller.session.advertiser.isWanted else {
                throw RadioError(.invalidState, "advertising was stopped before it began")
            }
        case .lost:
            // The caller gets an error, so advertising must not begin later.
            controller.change { advertiser, _, _ in advertiser.stop() }
            throw controller.loss
        }
        let reports = controller.session.advertiser.reports(of: advertisement.sets, wanted)
        controller.drive { session, _, _ in session.announce(reports, of: number) }
        toldFull = controller.session.isFull
        return controller.session.announced ?? AdvertisingReport.combined(reports)
    }

    private func checkPeriodic(_ advertisement: Advertisement) throws(RadioError) {
        guard advertisement.sets.contains(where: { $0.periodic != nil }),
            !controller.session.profile.supportedCommands.allows(.leSetPeriodicAdvertisingParameters)
        else { return }
        throw RadioError(
            .advertisementRefused, "\(environment.options.controller) has no periodic advertising",
            remedy: "leave periodic out, or use another controller")
    }

    /// Changes the resolvable private addresses of advertising sets that are due to change.
    func rotateSetAddresses() {
        guard controller.session.advertiser.isWanted,
            let wanted = try? setAddresses.configurations(of: sets, at: environment.now())
        else { return }
        timer[.setAddressRotation] = setAddresses.due(of: sets)
        let number = controller.change { advertiser, _, _ in advertiser.want(wanted) }
        let reports = controller.session.advertiser.reports(of: sets, wanted)
        controller.drive { session, _, _ in session.announce(reports, of: number) }
        addressChanged()
    }

    /// Stops advertising.
    func stopAdvertising() async {
        timer[.setAddressRotation] = nil
        controller.change { advertiser, _, _ in advertiser.stop() }
        await controller.settled(.advertiser)
    }

    /// Reports that advertising has stopped, if the controller refused a step after `advertise` had returned.
    func reportLostAdvertisement() {
        if let waiting, controller.session.advertiser.verdict(on: waiting) == .onAir { self.waiting = nil }
        let lost = controller.drive { session, _, _ in session.takeLostAnnouncement() }
        guard let lost else { return }
        sinks.warn(RadioWarning("advertisingLost", "advertising stopped: \(lost)"))
        sinks.tell(.advertisingChanged(.silent))
    }

    /// Reports the current advertisement again, with the new own address.
    func addressChanged() {
        toldFull = controller.session.isFull
        if let report = controller.session.announced { sinks.tell(.advertisingChanged(report)) }
    }

    /// Reports that connectable advertising is off, or on again, because of the number of connected centrals.
    func centralsChanged() {
        if controller.session.isFull != toldFull { addressChanged() }
    }
}
