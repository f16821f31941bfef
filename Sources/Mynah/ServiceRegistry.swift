import MynahCore
import MynahLifecycle

/// Finds the manager of an attribute or a PSM, and tracks services that the radio is registering or
/// withdrawing.
///
/// Belongs to a phone, and runs on the phone's executor.
final class ServiceRegistry {
    private var owners: [AttributeKey: ManagerState] = [:]
    private var channelOwners: [UInt16: ManagerState] = [:]
    /// Attributes whose registration or withdrawal the radio has not answered.
    private var moving: Set<AttributeKey> = []
    private var waiting = Waiters()
    private let radio: any PeripheralRadio
    private let memory: PhoneMemory
    private let reports: PhoneReports
    private let meter: PhoneMeter
    private let work: PhoneWork

    init(_ common: PhoneCommon) {
        (radio, memory, work) = (common.radio, common.memory, common.work)
        (reports, meter) = (common.reports, common.meter)
    }

    /// The manager of an attribute, or `nil` if it is not published.
    func owner(of attribute: AttributeKey) -> ManagerState? { owners[attribute] }

    /// The manager of a PSM, or `nil` if it is not published.
    func owner(ofChannel psm: UInt16) -> ManagerState? { channelOwners[psm] }

    /// The manager of all parts of a write, or `nil` if they belong to different managers.
    func owner(of request: WriteRequest) -> ManagerState? {
        guard let first = request.parts.first, let owner = owners[first.attribute] else { return nil }
        return request.parts.allSatisfy { owners[$0.attribute] === owner } ? owner : nil
    }

    // MARK: Services

    /// Throws `servicesRefused` if one of the attributes is published.
    ///
    /// Two registrations of one attribute would share its key, and withdrawing either would break the other.
    private func checkAreNew(_ services: [ServiceDefinition]) throws(RadioError) {
        for service in services where service.attributeKeys.contains(where: { owners[$0] != nil }) {
            throw RadioError(
                .servicesRefused,
                "the service \(service.uuid), or a characteristic of it, is published already",
                remedy: "remove it first; for another service with the same UUID make a new ServiceDefinition"
            )
        }
    }

    /// Assigns the attributes to a manager before the radio publishes them, because a central may read before
    /// the radio has answered.
    private func beginPublishing(_ services: [ServiceDefinition], of manager: ManagerState) {
        for key in services.flatMap(\.attributeKeys) {
            owners[key] = manager
            moving.insert(key)
        }
    }

    private func beginWithdrawing(_ services: [ServiceDefinition]) {
        moving.formUnion(services.flatMap(\.attributeKeys))
        disown(services)
    }

    private func disown(_ services: [ServiceDefinition]) {
        for key in services.flatMap(\.attributeKeys) { owners[key] = nil }
    }

    /// Handles the radio's answer to a registration or a withdrawal of services.
    func settle(_ services: [ServiceDefinition]) {
        moving.subtract(services.flatMap(\.attributeKeys))
        waiting.resumeAll()
    }

    /// Whether the radio is registering or withdrawing one of the attributes.
    private func isMoving(_ services: [ServiceDefinition]) -> Bool {
        services.contains { $0.attributeKeys.contains(where: moving.contains) }
    }

    /// Publishes services, and withdraws them at once if `accept` then returns `false`.
    ///
    /// `accept` is called with `nil` just before the request to the radio, and with the published services
    /// after it.
    func publish(
        _ services: [ServiceDefinition], for manager: ManagerState,
        accept: (PublishedServices?) -> Bool
    ) async throws(RadioError) -> PublishedServices {
        // Radios identify attributes by their keys, so a pending withdrawal would also withdraw the new
        // attribute.
        while isMoving(services) {
            await withCheckedContinuation { waiting.add($0) }
        }
        try checkAreNew(services)
        let withdrawn = RadioError(.lost, "the services were withdrawn while they were being published")
        guard accept(nil) else { throw withdrawn }
        beginPublishing(services, of: manager)
        defer { settle(services) }
        do throws(RadioError) {
            let published = try await radio.publish(services)
            serve(services, of: manager)
            if accept(published) { return published }
            await radio.withdraw(published.id)
            throw withdrawn
        } catch {
            disown(services)
            throw error
        }
    }

    /// Tells the radio to serve a manager's services, or to refuse requests for them, as its app's state
    /// requires.
    func serve(_ services: [ServiceDefinition], of manager: ManagerState) {
        guard let mode = manager.app?.servingMode else { return }
        PhoneControl.ask(radio) { $0.serve(services, as: mode) }
    }

    /// Returns the event, with the reason of a refused request if the services of the app are disabled.
    ///
    /// The radio does not know this reason.
    func explained(_ event: RadioEvent) -> RadioEvent {
        guard case .refused(var request) = event, request.reason == .other,
            let app = owner(of: request.attribute)?.app, app.servingMode == .disabled
        else { return event }
        request.reason = app.refusalReason
        return .refused(request)
    }

    func withdraw(_ added: ManagerState.AddedServices) async {
        guard let id = added.id else { return }
        beginWithdrawing(added.services)
        await radio.withdraw(id)
        settle(added.services)
    }

    /// Withdraws all services of a manager, without a request of the manager.
    ///
    /// With `forget`, the app has to add its services again. With `forget`, or if the manager has ended, its
    /// PSMs are also withdrawn, which closes their channels.
    ///
    /// That PSMs are withdrawn with the services is an assumption.
    func withdrawAll(of manager: ManagerState, forget: Bool) {
        if forget || manager.isEnded { unpublishChannels(of: manager) }
        let withdrawn = manager.withdrawAll(forget: forget)
        meter.update()
        for added in withdrawn {
            guard let id = added.id else { continue }
            beginWithdrawing(added.services)
            work.start(.withdraw(id, added.services))
        }
    }

    // MARK: Preserved services

    /// Publishes all services on a radio that has started, the phone's own services first.
    func republishAll(withOwn: Bool) async {
        if withOwn {
            for manager in memory.managers where manager.app == nil { await republish(manager) }
        }
        for app in memory.apps { await republish(app) }
    }

    /// Publishes the preserved services of an app that are not on the radio yet.
    func republish(_ app: AppProcess) async {
        // The app may have ended since the request.
        guard memory.isRunning, app.state != .terminated || app.rules.isRelaunched(for: .peripheral) else {
            return
        }
        for manager in app.managers { await republish(manager) }
    }

    private func republish(_ manager: ManagerState) async {
        var tried: Set<[AttributeKey]> = []
        // Stops if the program drops the manager meanwhile.
        while memory.managers.contains(where: { $0 === manager }),
            let index = manager.added.firstIndex(where: {
                $0.id == nil && !$0.isOnItsWay && !tried.contains($0.services.map(\.key))
            })
        {
            let services = manager.added[index].services
            tried.insert(services.map(\.key))
            manager.added[index].isOnItsWay = true
            // The index of these services, or `nil` if they are no longer being registered.
            func current() -> Int? { manager.added.firstIndex { $0.isOnItsWay && $0.services == services } }
            do throws(RadioError) {
                _ = try await publish(services, for: manager) { published in
                    guard let index = current() else { return false }
                    if let published { manager.added[index] = .init(published, services) }
                    meter.update()
                    return true
                }
            } catch {
                guard let index = current() else { continue }
                manager.added[index].isOnItsWay = false
                reports.warn("restoredServicesRefused", "restored services were refused: \(error)")
            }
        }
    }

    /// Waits until the radio has accepted or refused the preserved services of an app.
    func awaitRestoration(of app: AppProcess) async {
        await republish(app)
        while isMoving(app.managers.flatMap(\.services)) {
            await withCheckedContinuation { waiting.add($0) }
        }
    }

    // MARK: Channels

    func own(channel psm: UInt16, _ manager: ManagerState) {
        channelOwners[psm] = manager
    }

    func unpublish(channel psm: UInt16) {
        channelOwners[psm] = nil
        PhoneControl.ask(radio) { $0.unpublishL2CAPChannel(psm) }
    }

    func unpublishChannels(of manager: ManagerState) {
        for psm in channelOwners.filter({ $0.value === manager }).keys.sorted() {
            unpublish(channel: psm)
        }
    }

    /// Forgets everything that was published.
    func removeAll() {
        owners = [:]
        channelOwners = [:]
    }
}

extension ServiceDefinition {
    /// The keys of the service, its characteristics and their descriptors.
    var attributeKeys: [AttributeKey] {
        [key] + characteristics.flatMap { [$0.key] + $0.descriptors.map(\.key) }
    }
}
