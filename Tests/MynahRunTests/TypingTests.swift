import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

/// Keyboards, over the control API.
@Suite(.timeLimit(.minutes(15))) struct TypingTests {
    private static func profile(_ service: String) -> String {
        """
        mynah: 1
        name: Device
        device: {name: Device}
        advertising: {serviceUUIDs: [human-interface-device]}
        services: [{use: \(service)}]
        """
    }

    @Test func `a text is typed key by key to a host that is subscribed`() async throws {
        let rig = try await APIRig([Self.profile("hid-keyboard")])
        let refused = try await rig.send("POST /v1/devices/Device/type", #"{"text": "Hi"}"#)
        #expect(refused.status == 409 && refused.detail.contains("a host subscribes when it has paired"))
        let phone = try await rig.connect(to: "Device")
        try await phone.pair()
        try await phone.subscribe("2A4D")
        let answer = try await rig.send("POST /v1/devices/Device/type", #"{"text": "Hi", "gap": "1 ms"}"#)
        #expect(answer.status == 200 && answer.json.text == #"{"keys":2}"#)
        let released: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
        #expect(
            try await phone.values.take(4) == [
                [2, 0, 0x0B, 0, 0, 0, 0, 0], released, [0, 0, 0x0C, 0, 0, 0, 0, 0], released,
            ])
        let bodies: [(body: String, status: Int, detail: String)] = [
            ("{}", 400, #""text" is missing"#), (#"{"text": ""}"#, 400, #""text" is missing"#),
            (#"{"text": "a", "gap": "0 s"}"#, 400, #""gap" is 0 s, and must be 1 ms to 1 min"#),
            (#"{"text": "a", "gap": "2"}"#, 400, #""gap" "#),
            (#"{"text": "aé"}"#, 400, "no key of a US keyboard makes \"é\", character 2 of the text"),
            (#"{"text": "\#(String(repeating: "a", count: 4097))"}"#, 400, "at most 4096"),
            (#"{"text": "a", "keys": 1}"#, 400, "keys"),
        ]
        for each in bodies {
            let answer = try await rig.send("POST /v1/devices/Device/type", each.body)
            #expect(answer.status == each.status && answer.detail.contains(each.detail), "\(answer)")
        }
        await rig.stop()
    }

    @Test(arguments: ["hid-mouse", "hid-gamepad", "battery"])
    func `a device that is no keyboard says what it needs`(service: String) async throws {
        let rig = try await APIRig([Self.profile(service)])
        let answer = try await rig.send("POST /v1/devices/Device/type", #"{"text": "a"}"#)
        #expect(answer.status == 409 && answer.detail.contains("needs a service with use: hid-keyboard"))
        await rig.stop()
    }
}
