import MynahCore
import MynahLifecycle
import MynahSupport

/// Asynchronous work that a part of a phone requests, and the phone carries out later.
enum PhoneTask: Sendable {
    /// Update the radio's advertising.
    case advertise
    /// Update the radio's scan.
    case scan
    /// Start the central role of the radio.
    case startCentral
    /// End a link to a peripheral.
    case disconnect(Peer.ID)
    /// Withdraw services from the radio; their manager may keep them for a later publication.
    case withdraw(PublishedServices.ID, [ServiceDefinition])
    /// Ask the radio for the identity address of a device that has a pending connection.
    case resolve(DeviceAddress)
    /// Write a Client Characteristic Configuration descriptor, to subscribe or, with `false`, to unsubscribe.
    ///
    /// The number identifies the action of `SubscriptionLedger`.
    case configure(UInt64, SubscriptionWriter.Configuration, on: Peer.ID, Bool)
    /// Subscribe again to a characteristic of a restored peripheral.
    indirect case subscribeAgain(CentralPreservation.Subscription)
    /// Fail the call with this number, which waits for a connection.
    case giveUp(UInt64, RadioError)
    /// Report the restored state and the Bluetooth state to the new managers of the app with this number.
    case introduce(UInt64)
    /// Publish the preserved services of the app with this number.
    case republish(UInt64)
    /// Give an app's late answer to a request; the numbers are those of the app and of the reply.
    case answered(UInt64, UInt64, PendingReply.Outcome)
    /// Save the attribute tables.
    case saveTables
    /// Close channels that a manager has given up.
    case close([any L2CAPChannel])

    func perform(on phone: isolated Phone) async {
        let central = phone.central
        switch self {
        case .advertise:
            do throws(RadioError) {
                try await phone.advertiser.settle()
            } catch {
                phone.warn("advertisingRefused", "the radio does not advertise: \(error)")
            }
        case .scan:
            do throws(RadioError) {
                try await central.scanner.settle()
            } catch {
                central.programs.warn(RadioWarning("scanRefused", "the radio does not scan: \(error)"))
            }
        case .startCentral:
            do throws(RadioError) {
                try await central.start(as: phone.identity)
            } catch {
                phone.warn("centralNotStarted", "the central role cannot be started: \(error)")
            }
        case .giveUp(let call, let error): central.connections.giveUp(call, error)
        case .introduce(let app): phone.memory.app(app)?.introduceManagers(in: central)
        case .republish(let app):
            if let app = phone.memory.app(app) { await phone.services.republish(app) }
        case .answered(let app, let reply, let outcome): phone.memory.app(app)?.answer(reply, outcome)
        case .disconnect(let link): await central.radio?.disconnect(link)
        case .withdraw(let id, let services):
            await phone.radio.withdraw(id)
            phone.services.settle(services)
        case .resolve(let address):
            guard let identity = await central.radio?.identity(of: address),
                central.connector.resolved(address, identity)
            else { return }
            central.listen()
        case .configure(let number, let configuration, let link, let isOn):
            let error = await central.subscriptions.write(isOn, configuration, link)
            central.subscriptions.written(number, error)
        case .subscribeAgain(let subscription): await central.preservation.subscribe(subscription)
        case .saveTables: central.devices.tables.save()
        case .close(let channels): for channel in channels { await channel.close() }
        }
    }
}

/// A message from a part of a phone, which the phone handles at once.
enum PhoneSignal: Sendable {
    /// The phone began or ended advertising; update the devices to listen for.
    case listen
    /// An app's state or requests have changed; update the advertising.
    case advertise
    /// An app made a request.
    case app(UInt64, AppRequest)
    /// A link began or ended, in the central or in the peripheral role.
    case linksChanged
    /// No central manager uses this link any longer; it stays connected, because the device made it.
    case leave(Peer.ID)
    /// `PhoneConnector` returned actions to carry out.
    case connector([LinkInitiator.Action])
    /// The timeout of the call with this number, which waits for a connection, has elapsed.
    case timedOut(UInt64, RadioError)
    /// The start delay of the connection request with this number is over.
    case delayElapsed(UInt64)
    /// A central manager has ended.
    case end(ManagerKey)
    /// Scan again, so that devices that were already reported are reported again.
    case listenAnew
    /// The radio advertises other data for the manager with this number.
    case advertisingChanged(AdvertisingReport, for: UInt64)
    /// The radio's connection attempt with this number has ended.
    case attemptEnded(UInt64, LinkInitiator.Outcome)
    /// The GAP device name of a link's device was read.
    case nameRead(String, on: Peer.ID)

    func perform(on phone: isolated Phone) {
        let central = phone.central
        switch self {
        case .listen: central.listen()
        case .advertise: phone.advertiser.update()
        case .app(let number, let request):
            if let app = phone.memory.app(number) { request.perform(for: app, on: phone) }
        case .linksChanged: central.linksChanged()
        case .leave(let link):
            PhoneControl.ask(phone.radio) { $0.leave(link) }
            central.linksChanged()
        case .connector(let actions): central.perform(actions)
        case .timedOut(let call, let error): central.connections.giveUp(call, error)
        case .delayElapsed(let request): central.connections.delayElapsed(request)
        case .end(let key): if let manager = central.memory.manager(key) { central.end(manager) }
        case .listenAnew: central.scanner.listenAnew()
        case .advertisingChanged(let report, let number):
            guard let manager = phone.memory.managers.first(where: { $0.number == number }) else { return }
            _ = phone.deliver(.advertisingChanged(report), to: manager)
        case .attemptEnded(let number, let outcome):
            central.perform(central.connector.ended(number, outcome))
        case .nameRead(let name, let link): central.read(name, on: link)
        }
    }
}

/// Requests to the radio that are repeated until it advertises or scans as the managers request.
enum PhoneSteps: Sendable {
    case advertising
    case scanning

    func perform(on phone: isolated Phone) async -> RadioError? {
        switch self {
        case .advertising: await phone.advertiser.requestSteps()
        case .scanning: await phone.central.scanner.requestSteps()
        }
    }
}

/// Passes messages and work of a phone's parts to the phone.
///
/// Each part gets this object when it is made. It does not keep the phone alive.
final class PhoneWork: Sendable {
    private let way = Lock<PhoneLink?>(nil)

    /// Sets the phone, after the phone's parts were made.
    func attach(to phone: Phone) { way.withLock { $0 = PhoneLink(phone) } }

    /// The weak reference to the phone.
    var link: PhoneLink {
        guard let link = way.withLock({ $0 }) else { preconditionFailure("the phone is not made yet") }
        return link
    }

    /// Queues a task, which the phone carries out later, in the order of the calls.
    func start(_ task: PhoneTask) {
        link.enqueue { await task.perform(on: $0) }
    }

    /// Sends the phone a message at a given time.
    func tell(_ signal: PhoneSignal, at instant: RunClock.Instant, on clock: RunClock) -> Task<Void, Never> {
        link.enqueue(at: instant, on: clock) { signal.perform(on: $0) }
    }

    /// Sends the phone a message at once; the caller runs on the phone's executor.
    func tell(_ signal: PhoneSignal) {
        link.run { signal.perform(on: $0) }
    }

    /// Sends the phone a message from another executor.
    func tellSoon(_ signal: PhoneSignal) async {
        await link.perform { signal.perform(on: $0) }
    }

    /// Starts to change the radio's scan or advertising as required; returns `nil` if the phone was released.
    func start(_ steps: PhoneSteps) -> Task<RadioError?, Never>? {
        link.phone.map { phone in PhoneLink.task(on: phone) { await steps.perform(on: $0) } }
    }
}
