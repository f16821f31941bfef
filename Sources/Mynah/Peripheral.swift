public import MynahCore
public import MynahLifecycle
import MynahSupport

/// A remote peripheral (after CBPeripheral).
///
/// Runs on its manager's executor. Each request is a call that returns the answer. Discovered services are in
/// `services`, as values, until the connection ends or the peripheral reports that its services changed. If
/// an app is suspended when an answer arrives, the answer waits until the app runs. With the background mode
/// `bluetooth-central`, the answer wakes the app.
public actor Peripheral: Identifiable {
    /// The procedure by which a value is written.
    public enum WriteType: Hashable, Sendable {
        /// A write request, which the peripheral answers.
        case withResponse
        /// A write command, which has no answer.
        case withoutResponse
        /// A signed write command, which has no answer and needs a bond.
        case signed
    }

    /// A change of a peripheral, as its phone reports it.
    enum Change: Sendable {
        case heard(AdvertisementData)
        /// The name of a restored peripheral in an earlier process.
        case named(String)
        /// The GAP device name was read.
        case deviceName(String)
        case connected(Peer, mtu: Int)
        case changed(Peer)
        case mtu(Int)
        case paired
        case value([UInt8], handle: AttributeHandle)
        /// The services that were discovered before the process that discovered them ended.
        case restored([DiscoveredService])
        /// The delivery of a subscription to a characteristic, or `nil` if the subscription has ended.
        case subscription(AttributeHandle, Delivery?)
        /// The link ended, for this manager.
        case ended
    }

    /// The UUID that the phone gave the peripheral; an app may save it for `retrievePeripherals`.
    public nonisolated let identifier: PeripheralIdentifier
    /// The address by which the peripheral was first known.
    public nonisolated let address: DeviceAddress
    let radio: any CentralRadio
    let access: PeripheralAccess
    let pairsWhenAsked: Bool

    /// The advertised name, or the GAP device name once that is known; `nil` if the peripheral has no name.
    public internal(set) var name: String?
    /// Whether the name is the GAP device name.
    private var hasDeviceName = false
    /// The ATT_MTU of the link, in bytes.
    public internal(set) var mtu = GATT.defaultMTU
    /// Whether the peripheral is paired.
    public internal(set) var isPaired = false
    /// The services that were discovered, in the order of their handles.
    public internal(set) var services: [DiscoveredService] = []
    /// Whether the answer to the last request was held back because the app did not run.
    package internal(set) var hasAnswerWaited = false
    /// The peripheral's link, or `nil` if there is none.
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

    /// The same as `identifier`.
    public nonisolated var id: PeripheralIdentifier { identifier }

    /// Whether the peripheral is connected, connecting or disconnected for this manager.
    public var state: PeripheralState { access.state(of: self) }

    /// Whether the peripheral is connected for this manager.
    public var isConnected: Bool { peer != nil }

    /// The longest value that can be written, in bytes.
    ///
    /// The limit is 512 with a response, ATT_MTU − 3 without a response, and ATT_MTU − 15 with a signature.
    public func maximumWriteValueLength(for type: WriteType) -> Int {
        switch type {
        case .withResponse: GATT.maximumValueLength
        case .withoutResponse: min(mtu - 3, GATT.maximumValueLength)
        case .signed: min(mtu - 3 - 12, GATT.maximumValueLength)
        }
    }

    /// Returns the first discovered characteristic of this type, in any service or in services of one type.
    ///
    /// Returns `nil` if there is none.
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

    /// Handles a change of the peripheral, on its executor; returns the characteristic that changed, or
    /// `nil`.
    @discardableResult
    nonisolated func note(_ change: Change) -> DiscoveredCharacteristic? {
        look { $0.apply(change) }
    }

    /// Removes the services that have a handle in this range, on the peripheral's executor, and returns them.
    nonisolated func invalidateServices(in range: ClosedRange<AttributeHandle>) -> [DiscoveredService] {
        look { $0.forgetServices(in: range) }
    }

    /// The services to preserve for the next process, without their values, on the peripheral's executor.
    nonisolated var preservedServices: [DiscoveredService] {
        look { peripheral in
            peripheral.services.map { service in
                var service = service
                for index in service.characteristics.indices { service.characteristics[index].value = nil }
                return service
            }
        }
    }

    /// Makes the peripheral for the next process of its app, on the peripheral's executor.
    nonisolated func renewed(_ access: PeripheralAccess) -> Peripheral {
        let next = Peripheral(
            identifier: identifier, address: address, radio: radio, access: access,
            pairsWhenAsked: pairsWhenAsked)
        let services = preservedServices
        let (name, mtu, isPaired, peer) = look { ($0.name, $0.mtu, $0.isPaired, $0.peer) }
        let hasDeviceName = look { $0.hasDeviceName }
        next.look { next in
            (next.name, next.mtu, next.isPaired, next.peer) = (name, mtu, isPaired, peer)
            next.services = services
            next.hasDeviceName = hasDeviceName
        }
        return next
    }

    /// Calls `body` with the peripheral at once; the caller already runs on its executor.
    package nonisolated func look<Value: Sendable>(
        _ body: @Sendable (isolated Peripheral) -> Value
    ) -> Value {
        onOwnExecutor(body)
    }

    private func apply(_ change: Change) -> DiscoveredCharacteristic? {
        switch change {
        case .heard(let advertisement):
            guard !hasDeviceName, let heard = advertisement.localName,
                name == nil || advertisement.isNameComplete
            else { break }
            name = heard
        case .named(let known): name = name ?? known
        case .deviceName(let read): (name, hasDeviceName) = (read, true)
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
        case .subscription(let handle, let delivery): self.change(handle) { $0.delivery = delivery }
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

    /// Changes the discovered characteristic whose value has this handle.
    func change(_ handle: AttributeHandle, _ body: (inout DiscoveredCharacteristic) -> Void) {
        for service in services.indices {
            for index in services[service].characteristics.indices
            where services[service].characteristics[index].id == handle {
                body(&services[service].characteristics[index])
            }
        }
    }
}
