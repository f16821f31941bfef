public import MynahCore
public import MynahLifecycle
import MynahSupport

/// A peripheral that was heard or asked for (after CBPeripheral).
///
/// It runs on its manager's executor. Services are values: what was discovered is in `services`, until the
/// link ends or the peripheral says that they changed. While an app is suspended an answer waits, or wakes it
/// if it has the background mode for that.
public actor Peripheral: Identifiable {
    /// How a value is written.
    public enum WriteType: Hashable, Sendable {
        /// The peripheral answers.
        case withResponse
        /// It does not.
        case withoutResponse
        /// It does not, and takes it only with the signature of a central that is paired.
        case signed
    }

    /// What happens to it, as its phone reports it.
    enum Change: Sendable {
        case heard(AdvertisementData)
        case named(String)
        case connected(Peer, mtu: Int)
        case changed(Peer)
        case mtu(Int)
        case paired
        case value([UInt8], handle: AttributeHandle)
        /// What was found on it before the process that it was found by was gone.
        case restored([DiscoveredService])
        /// Its values are not sent although they were subscribed to.
        case notSubscribed(AttributeHandle)
        /// The link ended, for this manager.
        case ended
    }

    /// The UUID that the phone gave it, which a program may save.
    public nonisolated let identifier: PeripheralIdentifier
    /// The address that it was found with.
    public nonisolated let address: DeviceAddress
    let radio: any CentralRadio
    let access: PeripheralAccess
    let pairsWhenAsked: Bool

    /// What it is called in advertising, or by its GAP name once that was read.
    public internal(set) var name: String?
    /// The ATT_MTU of its link, in bytes.
    public internal(set) var mtu = GATT.defaultMTU
    /// Whether it is paired.
    public internal(set) var isPaired = false
    /// The services that were found, in the order of their handles.
    public internal(set) var services: [DiscoveredService] = []
    /// Whether the answer to its last request has waited while its app did not run.
    package internal(set) var hasAnswerWaited = false
    /// Its link, or `nil` if there is none.
    private(set) var peer: Peer.ID?

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    init(
        identifier: PeripheralIdentifier, address: DeviceAddress, radio: any CentralRadio,
        access: PeripheralAccess, pairsWhenAsked: Bool
    ) {
        self.identifier = identifier
        self.address = address
        self.radio = radio
        self.access = access
        self.pairsWhenAsked = pairsWhenAsked
    }

    /// Names it among all.
    public nonisolated var id: PeripheralIdentifier { identifier }

    /// Whether it is connected for its manager, or waited for.
    public var state: PeripheralState { access.state(of: self) }

    /// Whether it is connected for its manager.
    public var isConnected: Bool { peer != nil }

    /// How many bytes one write carries: the whole value with a response, ATT_MTU − 3 without, 12 less
    /// signed.
    public func maximumWriteValueLength(for type: WriteType) -> Int {
        switch type {
        case .withResponse: GATT.maximumValueLength
        case .withoutResponse: min(mtu - 3, GATT.maximumValueLength)
        case .signed: min(mtu - 3 - 12, GATT.maximumValueLength)
        }
    }

    /// The first characteristic of this type among those that were found, in this service where one is named.
    public func characteristic(
        _ uuid: BluetoothUUID, in service: BluetoothUUID? = nil
    ) -> DiscoveredCharacteristic? {
        services.lazy.filter { service == nil || $0.uuid == service }
            .flatMap(\.characteristics).first { $0.uuid == uuid }
    }

    func characteristic(withHandle handle: AttributeHandle) -> DiscoveredCharacteristic? {
        services.lazy.flatMap(\.characteristics).first { $0.id == handle }
    }

    // MARK: - Events

    /// Takes what happened to it, on its executor; returns the characteristic that it is about, or `nil` if
    /// none.
    @discardableResult
    nonisolated func take(_ change: Change) -> DiscoveredCharacteristic? {
        look { $0.apply(change) }
    }

    /// Forgets the services that have a handle in this range, on its executor, and returns them.
    nonisolated func invalidateServices(in range: ClosedRange<AttributeHandle>) -> [DiscoveredService] {
        look { $0.forgetServices(in: range) }
    }

    /// What of its services outlives the process, on its executor; values do not.
    nonisolated var preservedServices: [DiscoveredService] {
        look { peripheral in
            peripheral.services.map { service in
                var service = service
                for index in service.characteristics.indices { service.characteristics[index].value = nil }
                return service
            }
        }
    }

    /// Looks at it at once; the caller already runs on its executor.
    package nonisolated func look<Value: Sendable>(
        _ body: @Sendable (isolated Peripheral) -> Value
    ) -> Value {
        onOwnExecutor(body)
    }

    private func apply(_ change: Change) -> DiscoveredCharacteristic? {
        switch change {
        case .heard(let advertisement):
            guard let heard = advertisement.localName, name == nil || advertisement.isNameComplete else {
                break
            }
            name = heard
        case .named(let known): name = name ?? known
        case .connected(let peer, let mtu):
            self.peer = peer.id
            self.mtu = mtu
            changed(peer)
        case .changed(let peer): changed(peer)
        case .mtu(let new): mtu = new
        case .paired: isPaired = true
        case .value(let value, let handle):
            self.change(handle) { $0.value = value }
            return characteristic(withHandle: handle)
        case .restored(let found): services = found
        case .notSubscribed(let handle): self.change(handle) { $0.delivery = nil }
        case .ended:
            peer = nil
            services = []
            mtu = GATT.defaultMTU
        }
        return nil
    }

    private func changed(_ peer: Peer) {
        isPaired = peer.isPaired
        if let new = peer.name { name = new }
    }

    private func forgetServices(in range: ClosedRange<AttributeHandle>) -> [DiscoveredService] {
        defer { services.removeAll { $0.attribute.handles.overlaps(range) } }
        return services.filter { $0.attribute.handles.overlaps(range) }
    }

    /// Changes what is known of a characteristic, wherever it is.
    func change(_ handle: AttributeHandle, _ body: (inout DiscoveredCharacteristic) -> Void) {
        for service in services.indices {
            for index in services[service].characteristics.indices
            where services[service].characteristics[index].id == handle {
                body(&services[service].characteristics[index])
            }
        }
    }
}
