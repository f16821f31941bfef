import Dispatch
import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

import Glibc

@Suite(.timeLimit(.minutes(15))) struct BondKeepingTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/bonds.json" }

    init() throws {
        temporary = try TemporaryDirectory()
    }

    var kept: HostRadio.Options {
        var options = HostRadio.Options()
        options.bonds = BondFile(path: path)
        return options
    }

    /// A rig whose phone is paired and subscribed.
    func subscribed(_ bits: UInt8 = 1) async throws -> (SecureRig, Peer.ID) {
        let rig = try await SecureRig(deviceOptions: kept)
        let peer = try await rig.connect()
        try await rig.phone.pair(peer)
        let rate = try await rig.handle(of: rig.rate)
        try await rig.phone.write([bits, 0], to: rate + 1, of: peer)
        try await rig.deviceSink.wait(for: bits == 1 ? "subscribed notification" : "subscribed indication")
        return (rig, peer)
    }

    @Test func `a central that comes back is subscribed as before, once the link is encrypted`() async throws
    {
        let (rig, peer) = try await subscribed()
        try await rig.disconnect(peer)
        #expect(rig.deviceSink.all.contains("unsubscribed"))
        let rate = try await rig.handle(of: rig.rate)
        _ = try await rig.connect()
        // The device asks for it, because the phone has subscribed to something.
        try await rig.deviceSink.wait(for: "subscribed notification", times: 2)
        #expect(try await rig.device.send([0x48], of: rig.rate.key, as: .asSubscribed, to: nil) == .sent(1))
        try await rig.phoneSink.wait(for: "notification \(rate) 48")
        #expect(rig.deviceSink.all.count { $0 == "paired" } == 1)
        await rig.stop()
    }

    @Test(arguments: [true, false])
    func `a device that could pair better asks a bonded phone for no more than the bond is`(
        isSecureConnections: Bool
    ) async throws {
        var phone = HostRadio.Options()
        phone.hasSecureConnections = isSecureConnections
        let rig = try await SecureRig(device: .keyboardDisplay, phoneOptions: phone)
        let peer = try await rig.connect()
        try await rig.phone.pair(peer)
        try await rig.phone.write([1, 0], to: try await rig.handle(of: rig.rate) + 1, of: peer)
        try await rig.disconnect(peer)
        _ = try await rig.connect()
        try await rig.deviceSink.wait(for: "subscribed notification", times: 2)
        #expect(rig.deviceSink.all.count { $0 == "paired" } == 1)
        await rig.stop()
    }

    @Test func `bonds of a former name are used, and renamed at the first change`() async throws {
        let (rig, peer) = try await subscribed(2)
        let identity = await rig.device.bonds.identityResolvingKey
        try await rig.disconnect(peer)
        await rig.device.stop()
        await rig.stop()
        let new = BondFile(path: temporary.path + "/new.json", formerPath: path, writer: FileWriter())
        let store = try #require(new.load(acceptsSimulated: false).store)
        #expect(store.identityResolvingKey == identity && store.bonds.count == 1)
        #expect(!KeptFile(path: new.path).exists)
        new.save(store) { Issue.record("\($0)") }
        await new.writer.settle()
        #expect(!KeptFile(path: path).exists)
        #expect(try #require(new.load(acceptsSimulated: false).store).bonds == store.bonds)
    }

    @Test func `bonds and subscriptions outlive the device`() async throws {
        let (rig, peer) = try await subscribed(2)
        let identity = await rig.device.bonds.identityResolvingKey
        try await rig.disconnect(peer)
        await rig.device.stop()
        #expect(
            try BondStore(try JSON(parsing: try #require(try KeptFile(path: path).read()))).bonds.count == 1)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)

        let sink = SecureSink(PairingUser())
        let second = HostRadio(
            transport: rig.air.transport(ControllerConfiguration(address: rig.address)), options: kept)
        _ = try await second.start(DeviceIdentity(name: "Mynah"), sink: sink)
        #expect(await second.bonds.identityResolvingKey == identity)
        _ = try await second.publish(rig.services)
        _ = try await second.advertise(Advertisement())
        _ = try await rig.connect()
        try await sink.wait(for: "subscribed indication")
        #expect(sink.lastPeer?.isPaired == true && !sink.all.contains("paired"))
        await second.stop()
        await rig.phone.stop()
    }

    @Test func `services that changed meanwhile are indicated, and old subscriptions are void`() async throws
    {
        let (rig, peer) = try await subscribed()
        try await rig.phone.write([2, 0], to: 9, of: peer)
        try await rig.disconnect(peer)
        _ = try await rig.device.publish([ServiceDefinition(uuid: "180F")])
        _ = try await rig.connect()
        try await rig.phoneSink.wait(for: "indication 8 0100FFFF")
        #expect(rig.deviceSink.all.count { $0.hasPrefix("subscribed") } == 1)
        // Confirmed is told: the next time there is no news.
        try await until("the bond has the hash of the new database") {
            await rig.device.bonds.bonds[0].databaseHash == rig.device.look { $0.server.database.hash }
        }
        #expect(await rig.device.bonds.bonds[0].configurations == [9: 2])
        await rig.stop()
    }

    @Test func `a client with robust caching is out of sync when it comes back to other services`()
        async throws
    {
        let (rig, peer) = try await subscribed()
        try await rig.phone.write([1], to: 11, of: peer)
        try await rig.disconnect(peer)
        #expect(await rig.device.bonds.bonds[0].clientFeatures == [1])
        _ = try await rig.device.publish([ServiceDefinition(uuid: "180F")])
        let again = try await rig.connect()
        try await rig.phone.pair(again)
        #expect(try await rig.refusal(of: rig.encrypted, again) == 0x12)
        #expect(try await rig.refusal(of: rig.encrypted, again) == nil)
        await rig.stop()
    }

    @Test func `a signed command of a bonded central is carried out once, without encryption`() async throws {
        let rig = try await SecureRig(deviceOptions: kept)
        let peer = try await rig.connect()
        try await rig.phone.pair(peer)
        try await rig.disconnect(peer)
        let again = try await rig.connect()
        let handle = try await rig.handle(of: rig.signed)
        var bond = try #require(await rig.phone.bonds[rig.address])
        let pdu: [UInt8] = [0xD2, UInt8(handle.rawValue), 0, 0x07]
        let signed = try #require({ bond.sign(pdu) }())
        for bytes in [signed, signed, Array(signed.dropLast()) + [signed[15] ^ 1]] {
            let link = try #require(await rig.phone.onlyLink?.handle)
            await rig.phone.look {
                $0.send(L2CAPFrame(channel: L2CAPFrame.Channel.attribute, payload: bytes), to: link)
            }
        }
        // Behind them on the bearer.
        _ = try await rig.refusal(of: rig.encrypted, again)
        #expect(rig.deviceSink.all.filter { $0.hasPrefix("write") } == ["write 07 false"])
        #expect(await rig.device.bonds.bonds[0].peerSigningKey?.counter == 1)
        await rig.stop()
    }

    @Test func `a bonded central signs what it writes, and without a bond there is nothing to sign with`()
        async throws
    {
        let rig = try await SecureRig(deviceOptions: kept)
        let peer = try await rig.connect()
        let handle = try await rig.handle(of: rig.signed)
        let error = await #expect(throws: RadioError.self) {
            _ = try await rig.phone.writeSigned([9], to: handle, of: peer)
        }
        #expect(error?.code == .insufficientSecurity)
        try await rig.phone.pair(peer)
        // The link is encrypted, and a signature would add nothing.
        #expect(try await rig.phone.writeSigned([1], to: handle, of: peer))
        #expect(await rig.phone.bonds[rig.address]?.ownSigningKey?.counter == 0)
        try await rig.disconnect(peer)
        let again = try await rig.connect()
        #expect(try await rig.phone.writeSigned([2], to: handle, of: again))
        #expect(try await rig.phone.writeSigned([3], to: handle, of: again))
        let long = await #expect(throws: RadioError.self) {
            _ = try await rig.phone.writeSigned(Array(repeating: 0, count: 503), to: handle, of: again)
        }
        #expect(long?.code == .valueTooLong)
        // Behind them on the bearer.
        _ = try await rig.refusal(of: rig.encrypted, again)
        #expect(
            rig.deviceSink.all.filter { $0.hasPrefix("write") } == [
                "write 01 false", "write 02 false", "write 03 false",
            ])
        #expect(await rig.phone.bonds[rig.address]?.ownSigningKey?.counter == 2)
        await rig.stop()
    }

    @Test(arguments: [
        "", "{", #"{"version":1}"#, #"{"version":7,"bonds":[]}"#,
        #"""
        {"version":1,"identityResolvingKey":"000102030405060708090A0B0C0D0E0F",\#
        "staticAddress":"00:11:22:33:44:55","bonds":[]}
        """#,
    ])
    func `a file that is damaged is set aside, said, and never lost`(text: String) async throws {
        try KeptFile(path: path).replace(Array(text.utf8))
        let sink = SecureSink(PairingUser())
        let air = LiveAir(seed: 1)
        let address = try #require(DeviceAddress("C0:00:00:00:00:01", kind: .public))
        let radio = HostRadio(
            transport: air.transport(ControllerConfiguration(address: address)), options: kept)
        _ = try await radio.start(DeviceIdentity(name: "Mynah"), sink: sink)
        #expect(sink.all == ["warning bondsUnusable"])
        #expect(try KeptFile(path: path + ".unusable-1").read() == Array(text.utf8))
        #expect(try KeptFile(path: path).read() == nil)
        await radio.stop()
    }

    @Test func `a file that cannot be written is a warning, and one that is a directory is left alone`()
        async throws
    {
        #expect(mkdir(path, 0o700) == 0)
        let contents = BondFile(path: path).load(acceptsSimulated: false)
        #expect(contents.warning?.contains("it cannot be read") == true && contents.store == nil)
        let (rig, _) = try await SecureRig.paired(HostRadio.Options.keeping("/proc/nowhere/bonds.json"))
        try await rig.deviceSink.wait(for: "warning bondsNotKept")
        await rig.stop()
    }

    @Test func `requests are answered while bonds are being written`() async throws {
        let (begun, gate) = (Lock(0), DispatchSemaphore(value: 0))
        let writer = FileWriter { file, bytes throws(KeptFile.Problem) in
            begun.withLock { $0 += 1 }
            gate.wait()
            try file.replace(bytes ?? [])
        }
        var options = HostRadio.Options()
        options.bonds = BondFile(path: path, writer: writer)
        let (rig, peer) = try await SecureRig.paired(options)
        try await until("a write has begun") { begun.withLock { $0 } == 1 }
        // The bond is not in place, and the device answers.
        #expect(try await rig.refusal(of: rig.encrypted, peer) == nil)
        #expect(try KeptFile(path: path).read() == nil && !writer.isSettled(writer.latest))
        for _ in 0..<100 { gate.signal() }
        await rig.stop()
        #expect(
            try BondStore(try JSON(parsing: try #require(try KeptFile(path: path).read()))).bonds.count == 1)
    }
}

extension SecureRig {
    static func paired(_ options: HostRadio.Options) async throws -> (SecureRig, Peer.ID) {
        let rig = try await SecureRig(deviceOptions: options)
        let peer = try await rig.connect()
        try await rig.phone.pair(peer)
        return (rig, peer)
    }
}

extension HostRadio.Options {
    static func keeping(_ path: String) -> HostRadio.Options {
        var options = HostRadio.Options()
        options.bonds = BondFile(path: path)
        return options
    }
}
