// Programs that use the library. They are compiled as a user's package would be, which sees no `package`
// declaration.

import Logging
import Mynah
import MynahBlueZ
import MynahHost

/// The radios of UseTheLibrary.md.
func radios() throws -> [any PeripheralRadio] {
    var options = HostRadioOptions()
    options.name = "test bench"
    options.address = .resolvablePrivate()
    options.bonds = BondFile(path: "/tmp/bonds.json")
    options.isPairable = true
    options.hasSecureConnections = false
    var bluez = BlueZRadio.Options()
    bluez.adapter = "hci1"
    bluez.notificationRate = nil
    let capture = try CaptureFile(
        path: "/tmp/air.pcapng", application: "users",
        reports: .init(warn: { print($0.message) }, fail: { print($0) }))
    let address = DeviceAddress("C0:11:22:33:44:55", kind: .random)
    let virtual = try SharedAir(directory: "/tmp/air").transport(
        address: address, cipher: ControllerConfiguration.aes)
    return [
        .bluez(), .bluez(options: bluez),
        try .virtual(), try HostRadio.virtual(on: SharedAir(directory: "/tmp/air"), options: options),
        try HostRadio(controller: "unix:/tmp/controller", options: options),
        BlueZRadio(options: bluez, logger: Logger(label: "users")),
        HostRadio(transport: virtual, options: options),
        HostRadio(transport: capture.transport(virtual, named: "virtual")),
        HostRadio(transport: try HCITransportAddress(parsing: "tcp-client:127.0.0.1:6402").transport()),
        HostRadio(transport: HCITransportAddress.userChannel(0).transport { print($0) }),
    ]
}

/// A device in one call, and the loop that plays it.
func battery() async throws {
    let level = CharacteristicDefinition(uuid: "2A19", properties: [.read, .write, .notify])
    let events = try await PeripheralManager.serve(
        [ServiceDefinition(uuid: "180F", characteristics: [level])], as: "Battery",
        advertising: Advertisement(localName: "B"), on: .virtual())
    for await event in events {
        switch event.event {
        case .read: event.accept([99])
        case .write: if !event.reject(.writeNotPermitted) { print("answered before") }
        default: _ = try await events.manager.updateValue([98], for: level.key)
        }
    }
}

/// A central in one loop for each purpose.
func rates() async throws {
    let manager = CentralManager(radio: try HostRadio.virtual())
    try await manager.start()
    for await discovery in try await manager.discoveries(of: ["180D"], options: ScanOptions()) {
        let strap = discovery.peripheral
        try await manager.connect(strap, timeout: .seconds(10))
        guard let rate = try await strap.discoverAll(["180D"]).first?.characteristics.first else { continue }
        for await value in try await strap.values(of: rate) { print(value) }
    }
}

/// An accessory that has a secret, notifies and answers later.
func accessory(on radio: any PeripheralRadio) async throws {
    let measurement = CharacteristicDefinition(uuid: "2A37", properties: [.notify])
    let control = CharacteristicDefinition(
        uuid: BluetoothUUID(0x2A39 as UInt16), properties: [.read, .write],
        permissions: AttributePermissions(read: .encrypted, write: .encrypted),
        descriptors: [DescriptorDefinition(uuid: GATT.userDescription, value: Array("Control".utf8))])
    let phone = Phone(
        radio: radio,
        identity: DeviceIdentity(
            name: "HRM", appearance: AssignedNumbers.appearance(named: "heart-rate-sensor")), sink: PhoneLog()
    )
    let capabilities = try await phone.start { capabilities throws(RadioError) in
        guard capabilities.publishesL2CAPChannels, capabilities.subscriptions.hasBackPressure else {
            throw RadioError(
                .unsupported, "\(capabilities.name) cannot play this", remedy: "take another radio")
        }
    }
    print(capabilities.address?.description ?? "no address", capabilities.subscriptions.namesSubscribers)
    let manager = await phone.makePeripheralManager()
    let events = await manager.events()
    let published = try await manager.add(
        ServiceDefinition(uuid: "180D", characteristics: [measurement, control]))
    print(published.handles[measurement.key]?.rawValue ?? 0)
    var advertisement = Advertisement()
    advertisement.localName = "HRM"
    advertisement.serviceUUIDs = ["180D"]
    advertisement.manufacturerData = [.init(company: 0xFFFF, data: [1])]
    advertisement.raw = [ADStructure(type: .flags, data: [6])]
    let report = try await manager.startAdvertising(advertisement)
    for omission in report.omitted { print(omission.item, omission.reason) }
    let psm = try await manager.publishL2CAPChannel(withEncryption: true)
    print(report.data, psm)
    for await event in events {
        switch event.event {
        case .read(let request, let central):
            print(request.offset, central.address?.kind == .public, central.maximumUpdateValueLength)
            event.respond(request.attribute == control.key ? .success([1]) : .failure(.readNotPermitted))
        case .write(let request, _):
            for part in request.parts { print(part.attribute == control.key, part.offset, part.value) }
            event.respond(request.wantsResponse ? .failure(ATTError(code: 0x80)) : .success([]))
        case .subscribed(let attribute, let central?, .notification?):
            _ = try await manager.updateValue([0, 60], for: attribute, onSubscribedCentrals: [central.id])
        case .channelOpened(let channel, _):
            try await channel.send([1, 2, 3])
            await channel.close()
        case .missed(let count): print(count)
        default: break
        }
    }
    await phone.stop()
}

/// A phone's events, and pairing that asks someone.
struct PhoneLog: PhoneSink {
    func handle(_ event: PhoneEvent) -> RadioAnswer {
        switch event {
        case .pairing(let central, .compare(let passkey)):
            print(central.id, passkey)
            let reply = PendingPairingReply()
            Task { reply.answer(.agreed) }
            return .pairingLater(reply.pending)
        case .refused(let request, _): print(request.attribute, request.error, request.reason.rawValue)
        case .lost(let error): print(error.code == .lost, error.message, error.remedy ?? "")
        case .warning(let warning): print(warning.code, warning.message)
        case .alert(let alert, .shown): print(alert.app, alert.cause)
        default: break
        }
        return .none
    }
}

/// A delegate that answers when a thread of its own knows the value, and counts in a plain property.
final class Thermometer: PeripheralManagerDelegate {
    private let temperature = CharacteristicDefinition(uuid: "2A6E", properties: [.read, .write, .notify])
    private var reads = 0

    func peripheralManager(_ manager: isolated PeripheralManager, didUpdateState state: RadioState) {
        guard state == .poweredOn, manager.services.isEmpty else { return }
        manager.add(ServiceDefinition(uuid: "181A", characteristics: [temperature]))
        manager.startAdvertising(Advertisement(serviceUUIDs: ["181A"]))
    }

    func peripheralManager(
        _ manager: isolated PeripheralManager, didReceiveRead request: ReadRequest, from central: Central
    ) -> RadioAnswer {
        reads += 1
        let reply = PendingReply()
        Task.detached { if !reply.answer(.success([21])) { print("it was answered before") } }
        return .later(reply.pending)
    }

    func peripheralManager(
        _ manager: isolated PeripheralManager, didReceiveWrite request: WriteRequest, from central: Central
    ) -> RadioAnswer {
        let others = manager.subscribers(of: temperature.key).map(\.id).filter { $0 != central.id }
        let isSent = try? manager.updateValue(
            request.parts[0].value, for: temperature.key, onSubscribedCentrals: others)
        print(isSent == true, manager.isAdvertising)
        if reads > 99 { manager.stopAdvertising() }
        return .answer(.success([]))
    }
}

/// A central that subscribes, reads and writes.
func central(on radio: any CentralRadio) async throws {
    let manager = CentralManager(radio: radio)
    let events = await manager.events()
    try await manager.start()
    try await manager.scanForPeripherals(withServices: ["180D"], options: ScanOptions(allowsDuplicates: true))
    for await event in events {
        switch event {
        case .discovered(let found):
            print(found.rssi ?? 0, found.advertisement.localName ?? "", found.advertisement.mayHave("180D"))
            print(AdvertisementData(found.data).structures.map(\.type.rawValue), found.report.kind)
            try await manager.connect(found.peripheral, timeout: .seconds(10))
            let services = try await found.peripheral.discoverServices(["180D"])
            let characteristics = try await found.peripheral.discoverCharacteristics(
                ["2A37"], for: services[0])
            try await found.peripheral.setNotifyValue(true, for: characteristics[0])
            do throws(RequestError) {
                print(try await found.peripheral.readValue(for: characteristics[0]))
            } catch {
                print(error)
            }
            for all in try await found.peripheral.discoverAll() {
                print(all.uuid, all.id.rawValue, all.isPrimary)
            }
            try await found.peripheral.writeValue([1], for: characteristics[0], type: .withResponse)
            print(try await found.peripheral.readRSSI(), await found.peripheral.state == .connected)
            let channel = try await found.peripheral.openL2CAPChannel(0x80)
            print(channel.psm, channel.maximumLength)
        case .valueUpdated(let update): print(update.value, update.characteristic?.uuid.description ?? "")
        case .disconnected(let peripheral, let end):
            print(peripheral.identifier, end.isLocal, end.error?.message ?? "")
        default: break
        }
    }
    await manager.stop()
}

/// A central with a delegate, which writes as fast as the link takes it.
final class Uploader: CentralManagerDelegate {
    private var found: [Peripheral] = []

    func centralManager(_ manager: isolated CentralManager, didUpdateState state: RadioState) {
        if state == .poweredOn { manager.scanForPeripherals(withServices: ["180D"]) }
    }

    func centralManager(_ manager: isolated CentralManager, didDiscover discovery: Discovery) {
        found.append(discovery.peripheral)
        manager.stopScan()
        do { try manager.connect(discovery.peripheral) } catch { print(error) }
    }

    func centralManager(
        _ manager: isolated CentralManager, didConnect peripheral: Peripheral, isLocal: Bool
    ) {
        print(manager.connectedPeripherals.count, found.count)
        // A request waits for its answer, which no callback can.
        Task {
            try await peripheral.discoverAll()
            try await upload(to: peripheral)
        }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: isolated Peripheral) {
        print(peripheral.name ?? "no name", peripheral.maximumWriteValueLength(for: .withoutResponse))
        Task { try await upload(to: peripheral) }
    }

    func peripheral(_ peripheral: isolated Peripheral, didRequestPairing step: PairingStep) -> RadioAnswer {
        .pairing(.declined)
    }
}

func upload(to peripheral: Peripheral) async throws {
    guard let control = await peripheral.characteristic("2A39") else { return }
    while await peripheral.canSendWriteWithoutResponse {
        try await peripheral.writeValue([1], for: control, type: .withoutResponse)
    }
}

func uploader(on radio: any CentralRadio) async throws -> CentralManager {
    let manager = CentralManager(radio: radio, delegate: Uploader())
    try await manager.start()
    return manager
}

/// An app that the system restores.
final class Code: AppDelegate {
    /// Services and advertising end with their manager, so the app keeps it.
    private var manager: PeripheralManager?

    func app(_ app: isolated App, didFinishLaunching options: LaunchOptions) {
        print(app.state, options.restoreIdentifiers)
        manager = try? app.makePeripheralManager(restoreIdentifier: "main", delegate: Thermometer())
    }

    func app(_ app: isolated App, didChange change: AppChange) {
        if case .terminated(let reason) = change { print(app.description.name, reason.rawValue) }
    }
}

func app(on radio: any PeripheralRadio) async throws {
    let phone = Phone(
        radio: radio, identity: DeviceIdentity(name: "iPhone"), advertising: PhoneAdvertising(iOS: 17),
        stateDirectory: try StateDirectory(path: "/tmp/phone"))
    var rules = AppRules()
    rules.backgroundModes = [.bluetoothPeripheral, .bluetoothCentral]
    let app = await phone.makeApp(
        AppDescription(name: "Beats", rules: rules, restoreIdentifiers: ["main"]), delegate: Code(),
        clock: ContinuousClock())
    try await phone.start()
    await app.enterForeground()
    await app.enterBackground()
    print(await app.state == .suspended, await app.advertisingMode)
}

/// A test in virtual time: two controllers in one process, at a distance that is set.
func bench() async throws {
    let air = LiveAir(seed: 1, time: .manual)
    let address = DeviceAddress(value: 0xC00000000001, kind: .random)
    let controller = air.transport(
        ControllerConfiguration(address: address, cipher: ControllerConfiguration.aes))
    controller.setDistance(AirDistance(metres: 3))
    let radio = HostRadio(transport: controller)
    try await central(on: radio)
    air.advance(by: 1_000_000)
}

/// A transport of the user's own.
struct Wire: HCITransport {
    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        receive(H4Packet(.event, [0x0E, 0x01, 0x01]))
    }
    func send(_ packet: H4Packet) { print(packet.type.rawValue, packet.body) }
    func close() {}
}
