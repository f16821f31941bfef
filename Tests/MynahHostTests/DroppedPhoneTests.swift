import Mynah
import MynahCore
import MynahHCI
import MynahTestSupport
import Testing

@testable import MynahHost

/// A phone on our own host that nobody stops.
@Suite(.timeLimit(.minutes(15))) struct DroppedPhoneTests {
    @Test func `a phone that is dropped is off the air at once, and its links end`() async throws {
        let rig = try await CentralRig(starts: false)
        var phone: Phone? = Phone(radio: rig.device, identity: DeviceIdentity(name: "Mynah"))
        try await phone?.start()
        var manager = await phone?.makePeripheralManager()
        var advertisement = Advertisement()
        advertisement.interval = .milliseconds(20)
        try await manager?.startAdvertising(advertisement)
        // Another device beside it, whose advertising goes on.
        let address = try #require(DeviceAddress("C0:00:00:00:00:03", kind: .public))
        let other = HostRadio(transport: rig.air.transport(ControllerConfiguration(address: address)))
        _ = try await other.start(DeviceIdentity(name: "Other"), sink: HostSink())
        _ = try await other.advertise(advertisement)

        try await rig.phone.start(DeviceIdentity(name: "Phone"), central: rig.phoneSink)
        try await rig.phone.scan(ScanOptions(allowsDuplicates: true))
        _ = try await rig.connect()
        func heard(_ address: DeviceAddress) -> Int { rig.phoneSink.reports.count { $0.address == address } }
        try await until("both devices are heard") { heard(rig.address) > 0 && heard(address) > 0 }

        let transport = try #require(await rig.device.environment.transport as? VirtualTransport)
        #expect(transport.station != nil)
        manager = nil
        phone = nil
        // Work that is under way may hold the phone for a moment.
        try await until("the device has left the air") { transport.station == nil }
        // Reports that were on their way to the phone arrive before later ones.
        let before = heard(address)
        try await until("the other device is heard") { heard(address) > before + 10 }
        let (last, since) = (heard(rig.address), heard(address))
        try await until("the other device is heard on") { heard(address) > since + 10 }
        #expect(heard(rig.address) == last)
        try await until("the phone reports that its link ended") {
            rig.phoneSink.words.contains { $0.hasPrefix("disconnected") }
        }
        // The radio can be used again.
        try await until("the radio is stopped") { await rig.device.isStopped }
        await rig.phone.stop()
        await other.stop()
    }
}
