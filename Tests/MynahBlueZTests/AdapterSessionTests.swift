import MynahCore
import MynahDBus
import Testing

@testable import MynahBlueZ

@Suite struct AdapterSessionTests {
    typealias Action = AdapterSession.Action

    static let path = "/org/bluez/hci0"
    static let address = "00:AA:01:00:00:42"

    /// An adapter's interfaces, as bluetoothd lists them.
    static func adapter(
        _ address: String = Self.address, isPowered: Bool = true, modalias: String = ""
    ) -> DBusValue {
        .dictionary(
            key: "s", value: "a{sv}",
            [
                .init(
                    .string(BlueZ.adapter),
                    .options([
                        ("Address", .string(address)), ("Alias", "found"), ("Name", "found"),
                        ("Powered", .bool(isPowered)), ("Modalias", .string(modalias)),
                    ])),
                .init(.string(BlueZ.gattManager), .options([])),
                .init(.string(BlueZ.advertisingManager), .options([])),
            ])
    }

    static func objects(isPowered: Bool = true, modalias: String = "") -> BusObjects {
        var objects = BusObjects()
        objects.add(
            path, .dictionary(key: "s", value: "a{sv}", [.init(.string(BlueZ.agentManager), .options([]))]))
        objects.add(path, adapter(isPowered: isPowered, modalias: modalias))
        return objects
    }

    /// A session whose radio works.
    static func started() throws -> AdapterSession {
        var session = AdapterSession()
        session.connected()
        #expect(session.ownerChanged(to: ":1.1") == [])
        session.learned(objects())
        try session.select(nil)
        #expect(session.start() == [.reportState(.poweredOn)])
        return session
    }

    private static let lostDaemon: [Action] = [
        .forget(.daemon), .reportLost(.daemon), .reportState(.resetting),
    ]

    @Test func `the adapter is chosen by name, by address, or as the first`() throws {
        for wanted in [nil, "hci0", "00:aa:01:00:00:42"] {
            var session = AdapterSession()
            session.learned(Self.objects())
            try session.select(wanted)
            #expect(session.adapter?.name == "hci0")
            #expect(session.adapter?.deviceAddress?.description.isEmpty == false)
        }
        var session = AdapterSession()
        #expect(throws: RadioError.self) { try session.select(nil) }
    }

    @Test func `a bluetoothd that goes is reported, and listed when it is back`() throws {
        var session = try Self.started()
        #expect(session.ownerChanged(to: nil) == Self.lostDaemon)
        #expect(session.objects.adapters.isEmpty)
        #expect(!session.isPresent && !session.hasDaemon)
        #expect(session.ownerChanged(to: ":1.2") == [.perform(.learnObjects)])
        session.learned(Self.objects())
        #expect(session.look() == [.perform(.registerAll(epoch: 1))])
        #expect(session.isRecovering(1) && !session.isRecovering(2))
        #expect(session.recovered(1) == [.reportState(.poweredOn), .reportRecovered])
        #expect(session.isPresent)
    }

    @Test func `a change that is reported before the list of objects has been handled is not lost`() throws {
        let powered = ObjectChange.changed(
            Self.path, interface: BlueZ.adapter, properties: .options([("Powered", true)]))
        let removed = ObjectChange.removed(Self.path, interfaces: [BlueZ.adapter])
        var session = try Self.started()
        session.willLearn()
        _ = session.apply(removed)
        #expect(session.ownerChanged(to: ":1.2").contains(.perform(.learnObjects)))
        _ = session.apply(powered)
        session.learned(Self.objects(isPowered: false))
        #expect(session.adapterState?.isPowered == true)
        #expect(session.look() == [.perform(.registerAll(epoch: 1))])
        session.willLearn()
        _ = session.apply(removed)
        session.learned(nil)
        session.learned(Self.objects())
        #expect(session.adapterState != nil, "a list that failed leaves nothing for the next")
    }

    @Test func `another bluetoothd that takes the name at once is lost and listed`() throws {
        var session = try Self.started()
        #expect(session.ownerChanged(to: ":1.2") == Self.lostDaemon + [.perform(.learnObjects)])
    }

    @Test func `a bus that ends is connected to again, with a pause after a failure`() throws {
        var session = try Self.started()
        #expect(session.busEnded() == Self.lostDaemon + [.perform(.reconnect)])
        #expect(session.retry() == [], "one connection at a time")
        #expect(session.failed(.reconnect) == [.retry(after: .seconds(2))])
        #expect(session.retry() == [.perform(.reconnect)])
        session.connected()
        #expect(session.ownerChanged(to: ":1.2") == [.perform(.learnObjects)])
    }

    @Test func `an adapter that goes is recovered under another path`() throws {
        var session = try Self.started()
        let gone = session.apply(
            .removed(Self.path, interfaces: [BlueZ.adapter, BlueZ.gattManager, BlueZ.advertisingManager]))
        #expect(gone == [.forget(.adapter), .reportLost(.adapter), .reportState(.unsupported)])
        #expect(session.apply(.added("/org/bluez/hci1", interfaces: Self.adapter("00:AA:01:00:00:43"))) == [])
        #expect(
            session.apply(.added("/org/bluez/hci2", interfaces: Self.adapter()))
                == [.perform(.registerAll(epoch: 1))])
        #expect(session.adapter?.name == "hci2")
        #expect(session.owns("/org/bluez/hci2/dev_1") && !session.owns("/org/bluez/hci0/dev_1"))
    }

    @Test func `a recovery that fails is tried again after a pause`() throws {
        var session = try Self.started()
        _ = session.apply(
            .changed(Self.path, interface: BlueZ.adapter, properties: .options([("Powered", false)])))
        let back = session.apply(
            .changed(Self.path, interface: BlueZ.adapter, properties: .options([("Powered", true)])))
        #expect(back == [.perform(.registerAll(epoch: 1))])
        #expect(session.failed(.registerAll(epoch: 1)) == [.retry(after: .seconds(1))])
        #expect(session.retry() == [.perform(.registerAll(epoch: 2))])
    }

    @Test func `a bluetoothd that releases the agent is about to go, or comes back if it stays`() throws {
        var session = try Self.started()
        #expect(session.agentReleased() == Self.lostDaemon + [.retry(after: .seconds(3))])
        #expect(session.agentReleased() == [])
        #expect(session.hasDaemon)
        #expect(session.retry() == [.perform(.registerAll(epoch: 1))])
    }

    @Test func `nothing is reported before the start is complete and after the stop`() throws {
        var session = AdapterSession()
        session.connected()
        #expect(session.ownerChanged(to: ":1.1") == [])
        #expect(session.busEnded() == [])
        session = try Self.started()
        session.end()
        #expect(session.ownerChanged(to: nil) == [])
        #expect(session.busEnded() == [])
        #expect(session.retry() == [])
        #expect(session.failed(.reconnect) == [])
    }

    @Test func `a loss during the start is reported at its end`() throws {
        var session = AdapterSession()
        session.connected()
        _ = session.ownerChanged(to: ":1.1")
        session.learned(Self.objects())
        try session.select(nil)
        _ = session.ownerChanged(to: nil)
        #expect(session.start() == [.reportState(.poweredOn)] + Self.lostDaemon)
    }

    @Test func `the agent is registered once for each bluetoothd`() throws {
        var session = try Self.started()
        #expect(session.objects.hasAgentManager)
        var answers: [Bool] = []
        answers.append(session.willRegisterAgent())
        answers.append(session.willRegisterAgent())
        _ = session.ownerChanged(to: nil)
        session.learned(Self.objects())
        answers.append(session.willRegisterAgent())
        session.agentEnded()
        answers.append(session.willRegisterAgent())
        #expect(answers == [true, false, true, true])
    }

    @Test func `a device counts only on the adapter in use, while the radio works`() throws {
        var session = try Self.started()
        let device = DBusValue.dictionary(
            key: "s", value: "a{sv}", [.init(.string(BlueZ.device), .options([("Connected", true)]))])
        #expect(session.apply(.added("/org/bluez/hci0/dev_1", interfaces: device)) == [])
        #expect(session.apply(.added("/org/bluez/hci1/dev_1", interfaces: device)) == [])
        #expect(session.device("/org/bluez/hci0/dev_1")?.isConnected == true)
        #expect(session.device("/org/bluez/hci1/dev_1") == nil)
        _ = session.agentReleased()
        #expect(session.device("/org/bluez/hci0/dev_1") == nil)
    }

    @Test(arguments: [
        (BlueZVersion?.none, false, ["versionUnknown"]),
        (BlueZVersion(5, 79), true, ["socketsNotOffered"]), (BlueZVersion(5, 80), true, []),
        (BlueZVersion?.none, true, ["versionUnknown", "socketsNotOffered"]),
    ])
    func `assumptions about the version are warned of`(
        version: BlueZVersion?, wantsSockets: Bool, codes: [String]
    ) throws {
        var session = try Self.started()
        let isChanged = session.learned(version: version, wantsSockets: wantsSockets)
        #expect(isChanged)
        #expect(session.warnings(wantsSockets: wantsSockets).map(\.code) == codes)
        let isChangedAgain = session.learned(version: version, wantsSockets: wantsSockets)
        #expect(!isChangedAgain)
    }

    @Test func `the adapter's identifier contains the version`() {
        var session = AdapterSession()
        #expect(session.reportedVersion == nil)
        session.learned(Self.objects(modalias: "usb:v1D6Bp0246d0552"))
        try? session.select(nil)
        #expect(session.reportedVersion == BlueZVersion(5, 82))
    }
}

@Suite struct AdapterPreparationTests {
    private func adapter(
        isPowered: Bool = true, isPairable: Bool = true, alias: String = "found"
    ) -> BusObjects.Adapter {
        var adapter = BusObjects.Adapter()
        adapter.name = "found"
        adapter.alias = alias
        adapter.isPowered = isPowered
        adapter.isPairable = isPairable
        return adapter
    }

    private func steps(
        _ adapter: BusObjects.Adapter, name: String = "found"
    ) -> [AdapterPreparation.Step] {
        var preparation = AdapterPreparation(adapter, name: name)
        var steps: [AdapterPreparation.Step] = []
        while steps.count < 10, let step = preparation.next(isPowered: adapter.isPowered) {
            steps.append(step)
            preparation.done()
        }
        return steps
    }

    @Test func `only what differs is set`() {
        #expect(steps(adapter()) == [.registerAgent])
        #expect(steps(adapter(), name: "") == [.registerAgent])
        #expect(
            steps(adapter(isPowered: false, isPairable: false), name: "other") == [
                .set(.powered(true)), .set(.alias("other")), .registerAgent, .set(.pairable(true)),
            ])
    }

    @Test func `a bluetoothd that is busy turning the adapter on is waited for`() {
        var preparation = AdapterPreparation(adapter(isPowered: false), name: "")
        var waits = 0
        let busy = RadioError(.busy, "busy")
        while preparation.next(isPowered: false) == .set(.powered(true)), preparation.isPowering {
            guard preparation.failed(busy) else { break }
            #expect(preparation.next(isPowered: false) == .wait(.milliseconds(250)))
            preparation.done()
            waits += 1
        }
        #expect(waits == 19)
    }

    @Test func `power that comes by itself is not set`() {
        var preparation = AdapterPreparation(adapter(isPowered: false), name: "")
        #expect(preparation.next(isPowered: true) == .registerAgent)
        let goesOn = preparation.failed(RadioError(.busy, "busy"))
        #expect(!goesOn)
    }

    @Test func `another refusal ends the preparation`() {
        var preparation = AdapterPreparation(adapter(isPowered: false), name: "")
        _ = preparation.next(isPowered: false)
        let goesOn = preparation.failed(RadioError(.protocolViolation, "refused"))
        #expect(!goesOn)
    }

    // MARK: Restoration

    private func restoration(
        _ adapter: BusObjects.Adapter, changed: [AdapterProperty], hasAgent: Bool, isPairable: Bool,
        isPairableAfterWait: Bool = false
    ) -> [AdapterRestoration.Step] {
        var found = AdapterRestoration.Found(adapter)
        for property in changed { found.willSet(property) }
        var restoration = AdapterRestoration(found, hasAgent: hasAgent)
        var steps: [AdapterRestoration.Step] = []
        var isPairable = isPairable
        while steps.count < 10, let step = restoration.next(isPairable: isPairable) {
            if case .awaitPairingEnd = step { isPairable = isPairableAfterWait }
            steps.append(step)
        }
        return steps
    }

    @Test func `only what was set is restored`() {
        #expect(restoration(adapter(), changed: [], hasAgent: false, isPairable: true) == [])
        #expect(
            restoration(
                adapter(isPowered: false, isPairable: false, alias: "mine"),
                changed: [.powered(true), .alias("x"), .pairable(true)], hasAgent: true, isPairable: true)
                == [
                    .unregisterAgent, .set(.alias("mine")), .set(.pairable(false)), .set(.powered(false)),
                ])
    }

    @Test func `an alias that bluetoothd made itself is given back to it`() {
        #expect(
            restoration(adapter(), changed: [.alias("x")], hasAgent: false, isPairable: true) == [
                .set(.alias(""))
            ])
    }

    @Test func `pairing that ends with the agent is allowed again, and stays if another agent is left`() {
        let wait = AdapterRestoration.Step.awaitPairingEnd(atMost: .milliseconds(500))
        #expect(
            restoration(adapter(), changed: [], hasAgent: true, isPairable: true) == [
                .unregisterAgent, wait, .set(.pairable(true)),
            ])
        #expect(
            restoration(adapter(), changed: [], hasAgent: true, isPairable: false) == [
                .unregisterAgent, .set(.pairable(true)),
            ])
        #expect(
            restoration(
                adapter(), changed: [], hasAgent: true, isPairable: true, isPairableAfterWait: true) == [
                    .unregisterAgent, wait,
                ])
    }
}
