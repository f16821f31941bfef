import MynahBlueZStandIn
import MynahCore
import MynahDBus
import MynahTestSupport
import Testing

@testable import MynahBlueZ

/// A bus that ends, and takes bluetoothd along.
@Suite(.timeLimit(.minutes(15))) struct BusSurvivalTests {
    /// A rig that plays, with a phone that has subscribed.
    private func playing() async throws -> (Rig, VirtualCentral) {
        let rig = try await Rig()
        try await rig.radio.publish([Definitions().service])
        try await rig.radio.advertise(.named("Mynah"))
        let phone = await rig.standIn.central()
        try await phone.connect()
        try await rig.sink.wait(for: "connected")
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed")
        return (rig, phone)
    }

    @Test func `a bus that ends and comes back is played through again`() async throws {
        let (rig, phone) = try await playing()
        rig.bus.stop()
        try await rig.sink.wait(for: "lost")
        await rig.standIn.crash()
        try rig.bus.restart()
        try await rig.standIn.start()
        try await rig.sink.wait(for: "recovered")
        try await rig.standIn.wait("the device advertises") { !$0.advertisements().isEmpty }
        try await phone.connect()
        #expect(try await phone.readLong("2a38") == Array(0..<40))
        #expect(await rig.standIn.alias() == "Mynah")
        #expect(await rig.standIn.services().map(\.handle) == [0x0100])
        #expect(await rig.standIn.agentCapability == "NoInputNoOutput")
        #expect(rig.sink.words("lost").count == 1)
        #expect(rig.sink.words("disconnected").count == 1)
        #expect(rig.sink.words("unsubscribed") == ["unsubscribed ?"])
        #expect(rig.sink.words("state") == ["state poweredOn", "state resetting", "state poweredOn"])
        #expect(await rig.violations() == [])
        #expect(await rig.standIn.applicationCount() == 0)
    }

    @Test func `a bus that comes back before bluetoothd is stayed on until it is there`() async throws {
        let (rig, _) = try await playing()
        rig.bus.stop()
        try await rig.sink.wait(for: "lost")
        await rig.standIn.crash()
        try rig.bus.restart()
        // Has bluetoothd's name, and nothing to say yet.
        let early = try await DBusConnection.connect(to: .address(rig.bus.address))
        let mute = MuteDaemon()
        try await GLibExecutor.shared.perform { () throws(DBusError) in try early.export(mute, at: "/") }
        try await early.requestName(BlueZ.service)
        let radio = try await mute.callers.take()[0]
        try await early.releaseName(BlueZ.service)
        try await rig.standIn.start()
        try await rig.sink.wait(for: "recovered")
        #expect(await rig.standIn.services().map(\.handle) == [0x0100])
        #expect(try await early.nameHasOwner(radio))
        #expect(rig.sink.words("lost").count == 1)
        #expect(await rig.violations() == [])
        await early.close()
    }

    @Test func `a radio can be stopped while its bus is gone`() async throws {
        let (rig, _) = try await playing()
        rig.bus.stop()
        try await rig.sink.wait(for: "lost")
        await rig.radio.stop()
        await rig.standIn.crash()
        try rig.bus.restart()
        try await rig.standIn.start()
        _ = try await rig.radio.start(DeviceIdentity(name: "Again"), sink: rig.sink)
        #expect(await rig.standIn.alias() == "Again")
        #expect(await rig.violations() == [])
    }

    @Test func `a radio can be stopped while its bus does not answer`() async throws {
        let bus = try PrivateBus()
        bus.freeze()
        var options = BlueZRadio.Options()
        options.bus = .address(bus.address)
        let radio = BlueZRadio(options: options)
        let starting = Task {
            await radioError { () async throws(RadioError) in
                _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: TestSink())
            }
        }
        try await until("the radio connects to the bus") { await radio.isConnecting }
        await radio.stop()
        // Not `timedOut`, after 25 s.
        #expect(await starting.value?.code == .lost)
    }

    @Test func `a bus that ends twice is played through twice`() async throws {
        let (rig, _) = try await playing()
        for count in 1...2 {
            rig.bus.stop()
            try await rig.sink.wait(for: "lost", count: count)
            await rig.standIn.crash()
            try rig.bus.restart()
            try await rig.standIn.start()
            try await rig.sink.wait(for: "recovered", count: count)
        }
        #expect(rig.sink.words("lost").count == 2)
        #expect(await rig.violations() == [])
    }
}

/// Tells who asks for its objects, and gives none.
private final class MuteDaemon: DBusObject {
    let interfaces = [
        DBusInterface(
            "org.freedesktop.DBus.ObjectManager",
            methods: [.init("GetManagedObjects", returns: "a{oa{sa{sv}}}")])
    ]
    let callers = Mailbox<String>("the calls of GetManagedObjects")

    func handle(_ call: MethodCall, _ method: DBusInterface.Method) {
        callers.put(call.sender)
        call.fail(DBusError(.failed, "not yet"))
    }
}

extension BlueZRadio {
    fileprivate var isConnecting: Bool { adapter.isConnecting }
}
