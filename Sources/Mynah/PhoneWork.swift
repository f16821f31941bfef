import MynahCore
import MynahLifecycle
import MynahSupport

/// Work that a part of a phone leaves to the phone, which does it later.
enum PhoneTask: Sendable {
    /// Brings the radio in step with what is advertised.
    case advertise
    /// Brings the radio in step with what is scanned for.
    case scan
    /// Starts the central half of the radio.
    case startCentral
    /// Ends a link to a peripheral.
    case disconnect(Peer.ID)
    /// Takes services down that are no manager's any more.
    case withdraw(PublishedServices.ID, [ServiceDefinition])
    /// Asks the radio for the identity address of a device that is waited for.
    case resolve(DeviceAddress)
    /// Writes a client characteristic configuration, under the number of the ledger's action.
    case configure(UInt64, SubscriptionWriter.Configuration, on: Peer.ID, Bool)
    /// Subscribes again after a restoration.
    indirect case subscribeAgain(CentralPreservation.Subscription)
    /// Gives up a call that waits for a connection.
    case giveUp(UInt64, RadioError)
    /// Gives the new managers of an app what was preserved, and the Bluetooth state.
    case introduce(UInt64)
    /// Publishes what was preserved of an app.
    case republish(UInt64)
    /// An app has answered a request later.
    case answered(UInt64, UInt64, PendingReply.Outcome)
    /// Saves the attribute tables.
    case saveTables
    /// Closes channels of a manager that has given them up.
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

/// Something that a part of a phone tells the phone, which sees to it at once.
enum PhoneSignal: Sendable {
    /// The phone began or ceased to advertise: what is listened for may be something else.
    case listen
    /// An app's state or requests have changed: something else may be advertised.
    case advertise
    /// An app wants something.
    case app(UInt64, AppRequest)
    /// A link of either role began or ended.
    case linksChanged
    /// The phone stops using a link as a central that the device made.
    case leave(Peer.ID)
    /// The connector wants something.
    case connector([LinkInitiator.Action])
    /// A call has waited for a connection for as long as it may.
    case timedOut(UInt64, RadioError)
    /// The start delay of a connection request is over.
    case delayElapsed(UInt64)
    /// A central manager has ended.
    case end(ManagerKey)
    /// The devices that were heard before are to be reported again.
    case listenAnew
    /// The radio advertises something else for a manager, which the number names.
    case advertisingChanged(AdvertisingReport, for: UInt64)
    /// The radio's attempt to connect has ended.
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

/// A sequence of requests to the radio, which ends when the radio is in step.
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

/// The outbox of a phone's parts: values that say what they want of the phone.
///
/// The parts have it from the start; it does not keep the phone alive.
final class PhoneWork: Sendable {
    private let way = Lock<PhoneLink?>(nil)

    /// Leads to a phone that has its parts.
    func attach(to phone: Phone) { way.withLock { $0 = PhoneLink(phone) } }

    /// The way back to the phone, for the handles that it gives out.
    var link: PhoneLink {
        guard let link = way.withLock({ $0 }) else { preconditionFailure("the phone is not made yet") }
        return link
    }

    /// Has the phone do something later, in the order of the calls.
    func start(_ task: PhoneTask) {
        link.enqueue { await task.perform(on: $0) }
    }

    /// Tells the phone something at a time.
    func tell(_ signal: PhoneSignal, at instant: RunClock.Instant, on clock: RunClock) -> Task<Void, Never> {
        link.enqueue(at: instant, on: clock) { signal.perform(on: $0) }
    }

    /// Tells the phone something at once; the caller runs on the phone's executor.
    func tell(_ signal: PhoneSignal) {
        link.run { signal.perform(on: $0) }
    }

    /// Tells the phone something from elsewhere.
    func tellSoon(_ signal: PhoneSignal) async {
        await link.perform { signal.perform(on: $0) }
    }

    /// Starts requests to the radio, unless the phone is gone.
    func start(_ steps: PhoneSteps) -> Task<RadioError?, Never>? {
        link.phone.map { phone in PhoneLink.task(on: phone) { await steps.perform(on: $0) } }
    }
}
