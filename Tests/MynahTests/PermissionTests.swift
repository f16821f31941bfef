import Mynah
import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct PermissionTests {
    @Test func `without permission an app does nothing, and with it everything`() async throws {
        let rig = try await AppRig(publishes: false, authorization: .notDetermined)
        #expect(rig.code.words.contains("authorization notDetermined"))
        #expect(await rig.app.authorization == .notDetermined)
        let manager = try #require(rig.code.manager)
        #expect(await manager.state == .unauthorized)
        let added = await #expect(throws: RadioError.self) { try await manager.add(rig.service) }
        #expect(added?.code == .invalidState)
        let advertised = await #expect(throws: RadioError.self) {
            try await manager.startAdvertising(Advertisement())
        }
        #expect(advertised?.code == .invalidState)
        await rig.app.setAuthorization(.allowedAlways)
        #expect(await manager.authorization == .allowedAlways)
        #expect(await manager.state == .poweredOn)
        try await rig.publish()
        #expect(await rig.air != nil)
        #expect(await rig.app.state == .foreground)
    }

    @Test func `an answer that nobody asked for changes nothing`() async throws {
        let phone = Phone(radio: FakeRadio(), identity: DeviceIdentity(name: "iPhone"))
        var description = AppDescription(name: "test")
        description.authorization = .notDetermined
        let app = await phone.makeApp(
            description, delegate: TestApp(restoreIdentifier: nil), clock: ManualClock())
        await app.setAuthorization(.allowedAlways)
        #expect(await app.authorization == .notDetermined)
    }

    @Test func `of an app that loses its permission nothing is served and nothing kept`() async throws {
        let rig = try await AppRig(restoreIdentifier: "main")
        await rig.app.suspend()
        rig.code.forget()
        await rig.app.setAuthorization(.denied)
        #expect(rig.code.words == ["authorization denied", "terminated system"])
        #expect(await rig.app.state == .terminated)
        try await until("nothing is published") { await rig.radio.published.isEmpty }
        try await until("nothing is advertised") { await rig.air == nil }
        _ = try await rig.read()
        #expect(await rig.app.state == .terminated)
        rig.code.forget()
        await rig.app.enterForeground()
        #expect(rig.code.words == ["launched", "state unauthorized", "foreground"])
        await rig.app.setAuthorization(.allowedAlways)
        #expect(await rig.app.state == .terminated)
        rig.code.forget()
        await rig.app.enterForeground()
        #expect(rig.code.words == ["launched", "state poweredOn", "foreground"])
    }
}
