import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// The client subscribes to Service Changed by itself.
@Suite(.timeLimit(.minutes(15))) struct ServiceChangedTests {
    /// A client that has discovered services, and what it asks then.
    private func discovered() throws -> (ClientRig, [String]) {
        var rig = ClientRig()
        rig.client.bearer.serviceChanged = .unknown
        _ = rig.start(ServiceDiscovery())
        let asked = try rig.hear("11 06 0100 FFFF 0118")
        return (rig, asked)
    }

    @Test func `after the first discovery the client looks for Service Changed and subscribes`() throws {
        var (rig, asked) = try discovered()
        #expect(asked == ["060100FFFF00280118"])
        #expect(rig.ended.count == 1)
        #expect(try rig.hear("07 0600 0A00") == ["0806000A000328"])
        #expect(try rig.hear("09 07 0700 20 0800 052A") == ["0808000A000229"])
        #expect(try rig.hear("09 04 0900 0000") == ["1209000200"])
        #expect(try rig.hear("13") == [])
        #expect(rig.notified == ["subscribed 8"])
        // The next discovery asks for nothing more.
        _ = rig.start(ServiceDiscovery())
        #expect(try rig.hear("11 06 0100 FFFF 0118") == [])
    }

    @Test func `the application's requests meanwhile come after the subscription`() throws {
        var (rig, _) = try discovered()
        #expect(rig.start(ValueRead(3)) == [])
        #expect(try rig.hear("01 06 0100 0A") == ["0A0300"])
    }

    @Test func `an indication of Service Changed names the range, and others are values`() throws {
        var rig = ClientRig()
        rig.client.bearer.serviceChanged = .subscribed(8)
        #expect(try rig.hear("1D 0800 0C00 1000") == ["1E"])
        #expect(try rig.hear("1D 0900 0C00 1000") == ["1E"])
        #expect(try rig.hear("1D 0800 1000 0C00") == ["1E"])
        #expect(rig.notified == ["services 12...16", "9 0C001000 indication", "8 10000C00 indication"])
    }

    @Test(arguments: [
        ["01 06 0100 0A"], ["07"], ["07 0600 0A00", "01 08 0600 0A"],
        ["07 0600 0A00", "09 07 0700 20 0700 052A"],
        ["07 0600 0A00", "09 07 0700 20 0A00 002A"],
        ["07 0600 0A00", "09 07 0700 20 0800 052A", "01 08 0800 0A"],
        ["07 0600 0A00", "09 07 0700 20 0800 052A", "09 03 09"],
    ])
    func `a server without Service Changed, or with a broken one, is asked no more`(answers: [String]) throws
    {
        var (rig, _) = try discovered()
        for answer in answers.dropLast() { #expect(try rig.hear(answer).count == 1) }
        #expect(try rig.hear(answers.last ?? "") == [])
        #expect(rig.client.bearer.serviceChanged == .unavailable && rig.notified == [])
        #expect(rig.start(ValueRead(3)) == ["0A0300"])
    }

    @Test func `a value that is indicated already is not written`() throws {
        var (rig, _) = try discovered()
        _ = try rig.hear("07 0600 0A00")
        _ = try rig.hear("09 07 0700 20 0800 052A")
        #expect(try rig.hear("09 04 0900 0200") == [])
        #expect(rig.notified == ["subscribed 8"])
    }

    @Test func `a server that refuses is asked again when the link is encrypted`() throws {
        var (rig, _) = try discovered()
        _ = try rig.hear("07 0600 0A00")
        _ = try rig.hear("09 07 0700 20 0800 052A")
        _ = try rig.hear("09 04 0900 0000")
        #expect(try rig.hear("01 12 0900 05") == [])
        #expect(rig.client.bearer.serviceChanged == .refused(8) && rig.notified == [])
        var actions: [ATTClient.Action] = []
        rig.client.secured(into: &actions)
        #expect(actions == [.send([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 1, 0x18])])
        actions = []
        rig.client.secured(into: &actions)
        #expect(actions == [])
    }

    @Test func `a bond remembers the subscription, and the next link does not subscribe again`() async throws
    {
        let (rig, peer) = try await SecureRig.paired(HostRadio.Options())
        #expect(await rig.phone.bonds[rig.address]?.serviceChanged == nil)
        _ = try await rig.phone.discoverServices(nil, of: peer)
        // After the subscription, which is asked for first.
        _ = try await rig.refusal(of: rig.encrypted, peer)
        let handle = try #require(await rig.phone.bonds[rig.address]?.serviceChanged)
        try await rig.disconnect(peer)
        let again = try await rig.connect()
        try await rig.phone.pair(again)
        let link = try #require(await rig.phone.onlyLink?.handle)
        #expect(await rig.phone.serviceChanged(of: link) == handle)
        let extra = try await rig.device.publish([ServiceDefinition(uuid: "180A")])
        // The service is one attribute.
        let place = try #require(extra.handles.values.first)
        try await rig.phoneSink.wait(for: "services \(place) \(place)")
        await rig.device.withdraw(extra.id)
        try await rig.phoneSink.wait(for: "services \(place) \(place)", times: 2)
        await rig.stop()
    }
}

extension HostRadio {
    /// The handle of Service Changed on a link to a peripheral.
    fileprivate func serviceChanged(of link: ConnectionHandle) -> AttributeHandle? {
        links.client.serviceChanged(of: link)
    }
}
