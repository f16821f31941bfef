package import MynahCore
import MynahLifecycle

/// The phone's state of one peripheral manager, which outlives the process that made it.
///
/// The code that uses the manager, such as that of its app, is called the manager's program.
///
/// Belongs to a phone, and runs on the phone's executor.
final class ManagerState {
    /// Services that were added by one call.
    struct AddedServices {
        /// The radio's identifier of the services, or `nil` if they are not published.
        var id: PublishedServices.ID?
        var services: [ServiceDefinition]
        /// Whether the radio is registering these preserved services now.
        var isOnItsWay = false
        /// The attribute handles, as far as the radio reports them.
        var handles: [AttributeKey: AttributeHandle] = [:]

        init(id: PublishedServices.ID?, services: [ServiceDefinition]) {
            (self.id, self.services) = (id, services)
        }

        /// Makes the record of services that the radio has published.
        init(_ published: PublishedServices, _ services: [ServiceDefinition]) {
            self.init(id: published.id, services: services)
            handles = published.handles
        }
    }

    /// The stages of a manager's life.
    enum Stage {
        /// The manager was made, and no event has been reported to it yet.
        case new(isRestored: Bool)
        case live
        /// The process that made the manager has ended.
        case ended
    }

    /// The `PeripheralSink` and the event sequences that get the manager's events.
    private struct Audience {
        var sink: (any PeripheralSink)?
        var readers = EventReaders<DeliveredEvent>()
    }

    /// The objects with which the manager's state is saved, and the last saved state.
    private struct Record {
        let files: PhoneFiles
        /// The centrals of the phone, for the names of subscribers.
        let centrals: CentralTable
        /// Subscribers of an earlier process that have not connected again yet.
        var remembered: [PreservedState.Subscriber] = []
        /// The last saved state, or `nil` if none was saved.
        var saved: PreservedState?

        init(_ files: PhoneFiles, _ centrals: CentralTable) {
            (self.files, self.centrals) = (files, centrals)
        }
    }

    /// The manager's number, which is unique while the phone lives.
    let number: UInt64
    /// A number that increases with each launch of the app, so that references of an earlier launch are
    /// recognized as old.
    private(set) var epoch: UInt64 = 0
    /// The condition of the manager's app, or `nil` for an accessory's manager.
    let app: AppCondition?
    /// The identifier under which the manager's state is preserved, or `nil` if it is not preserved.
    let restoreIdentifier: String?
    private(set) var stage: Stage
    private var audience: Audience
    var added: [AddedServices] = []
    var subscriptions = SubscriptionTable()
    var requested = RequestedAdvertisement()
    /// The advertisement of an accessory, or `nil` if it does not advertise.
    var accessoryAdvertisement: Advertisement?
    /// A number that increases when the services are withdrawn without a request of the manager.
    private(set) var databaseEpoch = 0
    private(set) var state: RadioState
    /// The queued requests of the manager's callbacks.
    var callbacks = CallbackRequests()
    /// The report of the data that the radio advertises for the manager.
    private(set) var advertising = AdvertisingReport.silent
    private var record: Record

    /// Makes the manager of an accessory.
    init(_ files: PhoneFiles, _ memory: PhoneMemory, sink: (any PeripheralSink)?) {
        record = Record(files, memory.centrals)
        number = memory.nextNumber()
        app = nil
        restoreIdentifier = nil
        stage = .live
        state = memory.radioState
        audience = Audience(sink: sink)
    }

    init(
        of app: AppCondition, restoreIdentifier: String?, _ files: PhoneFiles, _ memory: PhoneMemory,
        sink: (any PeripheralSink)?
    ) {
        record = Record(files, memory.centrals)
        number = memory.nextNumber()
        self.app = app
        self.restoreIdentifier = restoreIdentifier
        stage = .new(isRestored: false)
        state = .unknown
        audience = Audience(sink: sink)
    }

    /// Makes a manager with the state that another process preserved.
    init(of app: AppCondition, _ preserved: PreservedState, _ files: PhoneFiles, _ memory: PhoneMemory) {
        record = Record(files, memory.centrals)
        number = memory.nextNumber()
        self.app = app
        restoreIdentifier = preserved.name.restoreIdentifier
        stage = .ended
        audience = Audience()
        state = .unknown
        added = preserved.batches.map { AddedServices(id: nil, services: $0) }
        requested = RequestedAdvertisement(preserved: preserved.advertisement)
        record.remembered = preserved.subscribers
        record.saved = preserved
    }

    var isEnded: Bool { if case .ended = stage { true } else { false } }
    var services: [ServiceDefinition] { added.flatMap(\.services) }

    // MARK: Its program

    /// Prepares the manager for a new launch of its app.
    func relaunch(sink: (any PeripheralSink)?) {
        epoch += 1
        callbacks = CallbackRequests()
        stage = .new(isRestored: true)
        audience = Audience(sink: sink)
    }

    /// Begins to report events to the manager's program; returns the restored state, or `nil` if there is
    /// none.
    func introduce() -> RestoredState? {
        guard case .new(let isRestored) = stage else { return nil }
        stage = .live
        guard isRestored else { return nil }
        let kept = restored
        return kept.isEmpty ? nil : kept
    }

    /// Makes the `PeripheralManager` for the manager's program, and gives it to the program's delegate.
    func makeHandle(
        _ link: PhoneLink, _ radio: any PeripheralRadio, keeping phone: Phone? = nil
    ) -> PeripheralManager {
        let handle = PeripheralManager(
            ManagerAccess(self, link), restoreIdentifier: restoreIdentifier, radio, keeping: phone)
        (audience.sink as? PeripheralManagerDelegateSink)?.attach(to: handle)
        return handle
    }

    /// Ends the manager: its process has ended, or its owner has dropped it.
    func end() {
        stage = .ended
        audience.sink = nil
        audience.readers.finish()
    }

    /// Returns a new sequence of the manager's events.
    func addReader() -> AsyncStream<DeliveredEvent> {
        precondition(audience.sink == nil, "this manager's events go to the sink it was made with")
        return audience.readers.add()
    }

    /// Gives an event to the manager's program.
    func deliver(_ event: PeripheralEvent) -> RadioAnswer {
        guard case .live = stage else { return .unheard(event) }
        if let sink = audience.sink { return sink.handle(event) }
        return audience.readers.isEmpty ? .unheard(event) : audience.readers.handle(event)
    }

    // MARK: Preserved state

    /// Updates the state after an event, whether or not the app receives the event now.
    func note(_ event: PeripheralEvent) {
        switch event {
        case .stateChanged(let new):
            state = new
            guard new != .poweredOn else { return }
            subscriptions.removeAll()
            advertising = .silent
            save()
        case .subscribed(let attribute, let central, _):
            subscriptions.subscribe(central?.id, to: attribute)
            record.remembered.removeAll {
                $0.attribute == attribute && ($0.address == nil || $0.address == central?.address)
            }
            save()
        case .unsubscribed(let attribute, let central):
            subscriptions.unsubscribe(central?.id, from: attribute)
            save()
        case .disconnected(let central):
            subscriptions.forget(central.id)
            save()
        case .advertisingChanged(let report):
            advertising = report
        default:
            break
        }
    }

    /// Changes the list of added services, after some were published or withdrawn.
    func changeAdded(_ body: (inout [AddedServices]) -> Void) {
        let before = services
        body(&added)
        let left = Set(services.map(\.key))
        subscriptions.remove(before.filter { !left.contains($0.key) })
        save()
    }

    /// Removes all services, without a request of the manager.
    ///
    /// Returns those that were published. With `forget`, the app has to add its services again.
    func withdrawAll(forget: Bool) -> [AddedServices] {
        databaseEpoch += 1
        let withdrawn = added.filter { $0.id != nil }
        subscriptions.remove(withdrawn.flatMap(\.services))
        for index in added.indices { added[index] = AddedServices(id: nil, services: added[index].services) }
        guard forget else { return withdrawn }
        added = []
        record.remembered = []
        save()
        return withdrawn
    }

    // MARK: Preserved state

    /// Saves the preserved state, if it has changed.
    ///
    /// An empty state is saved only if it replaces a saved one.
    func save() {
        guard let preservedName else { return }
        let state = preserved(preservedName)
        guard state != record.saved ?? PreservedState(name: preservedName), record.files.save(state) else {
            return
        }
        record.saved = state
    }

    /// The name under which the manager's state is preserved, or `nil` if it is not preserved.
    var preservedName: PreservedName? {
        guard let app, let restoreIdentifier else { return nil }
        return PreservedName(app: app.description.name, restoreIdentifier: restoreIdentifier)
    }

    /// Whether the manager advertises or has subscribers, so that the system works for it while its app does
    /// not run.
    ///
    /// Published services alone do not count, which is an assumption: TN3115 names "actively advertising".
    var isAtWork: Bool {
        requested.advertisement != nil || !subscriptions.attributes.isEmpty || !record.remembered.isEmpty
    }

    private func preserved(_ name: PreservedName) -> PreservedState {
        var state = PreservedState(name: name, batches: added.map(\.services))
        state.advertisement = requested.advertisement
        state.subscribers = liveSubscribers.map {
            .init(attribute: $0.attribute, address: $0.address)
        }
        state.subscribers += record.remembered.filter { !state.subscribers.contains($0) }
        return state
    }

    private var restored: RestoredState {
        let remembered = record.remembered.map {
            RestoredState.Subscriber(attribute: $0.attribute, address: $0.address, isLive: false)
        }
        return RestoredState(
            services: services, advertisement: requested.advertisement,
            subscribers: remembered + liveSubscribers)
    }

    private var liveSubscribers: [RestoredState.Subscriber] {
        subscriptions.attributes.flatMap { attribute in
            let named = subscriptions.centrals(of: attribute).map { record.centrals[$0].address }
            return (named + (subscriptions.hasUnnamed(attribute) ? [nil] : [])).map {
                RestoredState.Subscriber(attribute: attribute, address: $0, isLive: true)
            }
        }
    }

    // MARK: Advertising

    /// Returns the manager's part of the phone's advertisement, or `nil` if it requests none.
    ///
    /// With `deferringChanges`, UUIDs that change in the background are advertised when the app is in the
    /// foreground again.
    func part(deferringChanges: Bool) -> SharedAdvertisement.Part? {
        guard let app else {
            return accessoryAdvertisement.map { .init(manager: number, content: .accessory($0)) }
        }
        guard let part = requested.part(app.advertisingMode, deferringChanges: deferringChanges) else {
            return nil
        }
        return .init(
            manager: number, name: app.description.name, content: .app(part),
            omitted: requested.deferred(in: part))
    }
}

extension RadioAnswer {
    /// The answer to an event that nobody receives: an ATT error for a request, and none for other events.
    package static func unheard(_ event: PeripheralEvent) -> RadioAnswer {
        switch event {
        case .read, .write: .answer(.failure(.unlikelyError))
        default: .none
        }
    }
}
