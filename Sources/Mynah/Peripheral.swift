public import MynahCore
import MynahSupport

/// A peripheral that was heard or asked for (after CBPeripheral).
///
/// It runs on its manager's executor. Services are values: what was discovered is in `services`, until the link ends or the
/// peripheral says that they changed.
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

    /// Its address, which identifies it.
    public nonisolated let address: DeviceAddress
    let radio: any CentralRadio
    let pairsWhenAsked: Bool

    /// What it is called in advertising, or by its GAP name once that was read.
    public internal(set) var name: String?
    /// The ATT_MTU of its link, in bytes.
    public internal(set) var mtu = GATT.defaultMTU
    /// Whether it is paired.
    public internal(set) var isPaired = false
    /// The services that were found, in the order of their handles.
    public internal(set) var services: [DiscoveredService] = []
    /// Its link, or `nil` if there is none.
    private(set) var peer: Peer.ID?

    /// The radio's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { radio.unownedExecutor }

    init(address: DeviceAddress, radio: any CentralRadio, pairsWhenAsked: Bool) {
        self.address = address
        self.radio = radio
        self.pairsWhenAsked = pairsWhenAsked
    }

    /// Whether there is a link to it.
    public var isConnected: Bool { peer != nil }

    /// How many bytes one write carries: the whole value with a response, ATT_MTU − 3 without, 12 less signed.
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

    func heard(_ advertisement: AdvertisementData) {
        if let heard = advertisement.localName, name == nil || advertisement.isNameComplete { name = heard }
    }

    /// Takes what happened on its link; returns the characteristic that it is about, or `nil` if none.
    func take(_ event: CentralEvent) -> DiscoveredCharacteristic? {
        switch event {
        case .connected(let peer):
            self.peer = peer.id
            mtu = GATT.defaultMTU
            changed(peer)
        case .peerChanged(let peer): changed(peer)
        case .disconnected:
            peer = nil
            services = []
            mtu = GATT.defaultMTU
        case .mtuChanged(_, let new): mtu = new
        case .paired: isPaired = true
        case .notified(_, let handle, _, _): return characteristic(withHandle: handle)
        case .servicesChanged(_, let range): forgetServices(in: range)
        default: break
        }
        return nil
    }

    private func changed(_ peer: Peer) {
        isPaired = peer.isPaired
        if let new = peer.name { name = new }
    }

    private func forgetServices(in range: ClosedRange<AttributeHandle>) {
        services.removeAll { $0.attribute.handles.overlaps(range) }
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
