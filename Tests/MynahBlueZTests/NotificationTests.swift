import MynahBlueZ
import MynahBlueZStandIn
import MynahCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct NotificationTests {
    private func connected(
        mtu: Int = 23, options: (inout BlueZRadio.Options) -> Void = { _ in }
    ) async throws -> (Rig, VirtualCentral, AttributeKey) {
        let rig = try await Rig(options: options)
        let definitions = Definitions()
        try await rig.radio.publish([definitions.service])
        try await rig.radio.advertise(.named("Mynah"))
        let phone = await rig.standIn.central()
        try await phone.connect(mtu: mtu)
        try await rig.sink.wait(for: "connected")
        return (rig, phone, definitions.rate.key)
    }

    @Test func `two hundred notifications arrive in order`() async throws {
        let (rig, phone, key) = try await connected()
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed")
        for number in 0..<200 {
            let result = try await rig.radio.send([UInt8(number)], of: key, as: .asSubscribed, to: nil)
            #expect(result == .sent(nil))
        }
        #expect(try await phone.notifications(200).map(\.value) == (0..<200).map { [UInt8($0)] })
        #expect(await rig.violations() == [])
    }

    @Test func `an indication is confirmed`() async throws {
        let (rig, phone, key) = try await connected()
        try await phone.subscribeToIndications("2a37")
        try await rig.sink.wait(for: "subscribed")
        _ = try await rig.radio.send([1], of: key, as: .asSubscribed, to: nil)
        #expect(try await phone.notifications().map(\.isIndication) == [true])
        try await rig.sink.wait(for: "confirmed ?")
        #expect(await rig.violations() == [])
    }

    @Test func `two phones receive, and one that leaves does not end it`() async throws {
        let (rig, first, key) = try await connected()
        let second = await rig.standIn.central("F0:F1:F2:F3:F4:F6")
        try await rig.standIn.wait("the device advertises") { !$0.advertisements().isEmpty }
        try await second.connect()
        try await first.subscribe("2a37")
        try await second.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed", count: 2)
        _ = try await rig.radio.send([1], of: key, as: .asSubscribed, to: nil)
        #expect(try await first.notifications().map(\.value) == [[1]])
        #expect(try await second.notifications().map(\.value) == [[1]])
        await first.disconnect()
        try await rig.sink.wait(for: "disconnected")
        _ = try await rig.radio.send([2], of: key, as: .asSubscribed, to: nil)
        #expect(try await second.notifications().map(\.value) == [[2]])
        #expect(rig.sink.words("unsubscribed") == [])
        await second.disconnect()
        try await rig.sink.wait(for: "unsubscribed")
        #expect(await rig.violations() == [])
    }

    @Test func `a value that the link does not carry is cut, with one warning`() async throws {
        let (rig, phone, key) = try await connected(mtu: 50)
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed")
        let long = [UInt8](repeating: 1, count: 48)
        // Not known yet: one warning.
        _ = try await rig.radio.send(Array(long.prefix(21)), of: key, as: .asSubscribed, to: nil)
        _ = try await rig.radio.send(Array(long.prefix(22)), of: key, as: .asSubscribed, to: nil)
        #expect(rig.sink.words("warning") == ["warning mtuUnknown"])
        _ = try await phone.read("2a38")
        for count in [48, 48, 47] {
            _ = try await rig.radio.send(Array(long.prefix(count)), of: key, as: .asSubscribed, to: nil)
        }
        #expect(rig.sink.words("warning") == ["warning mtuUnknown", "warning valueTooLong"])
        #expect(try await phone.notifications(5).map(\.value.count) == [21, 22, 47, 47, 47])
        #expect(await rig.violations() == [])
    }

    @Test func `a value in pieces arrives whole, at any MTU`() async throws {
        let rig = try await Rig()
        let definitions = Definitions { $0.updates.isInPieces = true }
        try await rig.radio.publish([definitions.service])
        try await rig.radio.advertise(.named("Mynah"))
        let phone = await rig.standIn.central()
        try await phone.connect(mtu: 50)
        try await rig.sink.wait(for: "connected")
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed")
        let value = Array<UInt8>(0..<100)
        _ = try await rig.radio.send(value, of: definitions.rate.key, as: .asSubscribed, to: nil)
        // The MTU is not known before a request.
        #expect(try await phone.notifications(5).map(\.value) == value.pieces(of: 20))
        _ = try await phone.read("2a38")
        _ = try await rig.radio.send(value, of: definitions.rate.key, as: .asSubscribed, to: nil)
        #expect(try await phone.notifications(3).map(\.value) == value.pieces(of: 47))
        #expect(rig.sink.words("warning") == [])
        #expect(await rig.violations() == [])
    }

    @Test func `past its rate the queue is full, and it says when there is room`() async throws {
        let (rig, phone, key) = try await connected { $0.notificationRate = 5 }
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed")
        var sent = 0
        // One at once, and then one each fifth of a second: no loaded machine is too slow to fill that.
        while try await rig.radio.send([UInt8(sent)], of: key, as: .asSubscribed, to: nil) != .full {
            sent += 1
            try #require(sent < 50)
        }
        #expect(sent >= 1)
        try await rig.sink.wait(for: "readyToSend")
        #expect(try await rig.radio.send([0xFF], of: key, as: .asSubscribed, to: nil) == .sent(nil))
        #expect(try await phone.notifications(sent + 1).count == sent + 1)
        #expect(await rig.violations() == [])
    }

    @Test func `an unknown attribute, a silent one, and a single receiver are errors`() async throws {
        let (rig, _, key) = try await connected()
        let radio = rig.radio
        let unknown = await radioError { () async throws(RadioError) in
            _ = try await radio.send([1], of: AttributeKey(), as: .asSubscribed, to: nil)
        }
        #expect(unknown?.code == .unknownAttribute)
        let one = await radioError { () async throws(RadioError) in
            _ = try await radio.send([1], of: key, as: .asSubscribed, to: [Peer.ID(1)])
        }
        #expect(one?.code == .unsupported)
        #expect(await rig.violations() == [])
    }

    @Test func `a bonded central's subscription is told again when it returns`() async throws {
        let (rig, phone, key) = try await connected()
        try await phone.pair()
        try await phone.subscribe("2a37")
        try await rig.sink.wait(for: "subscribed")
        await phone.disconnect()
        try await rig.sink.wait(for: "unsubscribed")
        try await rig.standIn.wait("the device advertises") { !$0.advertisements().isEmpty }
        try await phone.connect()
        try await rig.sink.wait(for: "subscribed", count: 2)
        _ = try await rig.radio.send([1], of: key, as: .asSubscribed, to: nil)
        #expect(try await phone.notifications().map(\.value) == [[1]])
        #expect(await rig.violations() == [])
    }
}
