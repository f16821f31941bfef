import MynahCore
import MynahTestSupport
import Testing

@testable import Mynah

@Suite(.timeLimit(.minutes(5))) struct HiddenServiceTests {
    @Test(arguments: [true, false])
    func `an app discovers no service that iOS keeps for itself, and a program does`(isApp: Bool) async throws
    {
        let radio = FakeCentralRadio()
        let phone = Phone(radio: radio, identity: DeviceIdentity(name: "iPhone"))
        let code = CentralApp(nil)
        let app = await phone.makeApp(
            AppDescription(name: "test"), delegate: code, clock: ManualClock())
        await app.enterForeground()
        try await phone.start()
        let program = try await phone.makeCentralManager(sink: CentralApp(nil))
        try await program.start()
        let manager = isApp ? try #require(code.manager) : program
        let address = DeviceAddress(value: 1, kind: .public)
        let keyboard = await manager.peripheral(at: address)
        try await until("Bluetooth is on") { await manager.state == .poweredOn }
        try await manager.connect(keyboard, options: ConnectOptions())
        try await until("the radio is asked to connect") { await radio.isAsked(for: address) }
        await radio.answer(address, link: 1)
        try await until("it is connected") { await keyboard.isConnected }
        let hidden: [BluetoothUUID] = ["1800", "1801", "1812", AppleServices.notificationCenter]
        try await keyboard.discoverServices(["180D"] + hidden)
        let asked = isApp ? ["180D"] : (["180D"] + hidden).map(\.description)
        #expect(await radio.requests.filter { $0.hasPrefix("services") } == asked.map { "services \($0)" })
        await phone.stop()
    }
}
