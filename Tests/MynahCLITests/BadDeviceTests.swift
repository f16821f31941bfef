import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

/// `mynah scan` and `mynah connect` with devices that do not keep to the rules.
@Suite(.processes, .timeLimit(.minutes(15))) struct BadDeviceTests {
    /// A device called Ill, and what `--radio` is to say to meet it.
    private struct Stage {
        let device: HCIProbe
        let controller: IllController
        let radio: String

        /// `data` is what it advertises, after its name unless that is another.
        init(name: String = "0409496C6C", data: String = "") async throws {
            let air = LiveAir()
            let address = try #require(DeviceAddress("C0:00:00:00:00:05", kind: .public))
            device = HCIProbe(air.transport(ControllerConfiguration(address: address)))
            controller = IllController([.good], air: air)
            radio = try await controller.listen()
            try await device.open()
            try await device.command(.leSetAdvertisingParameters, "2000 2000 00 00 00 000000000000 07 00")
            try await advertise("\(name)\(data)")
            try await device.command(.leSetAdvertisingEnable, "01")
        }

        func advertise(_ hex: String) async throws {
            let bytes = (Hex.decode(hex) ?? []).prefix(31)
            let padding = [UInt8](repeating: 0, count: 31 - bytes.count)
            try await device.command(
                .leSetAdvertisingData, Hex.encode([UInt8(bytes.count)] + bytes + padding))
        }

        /// Its link, when somebody has connected.
        func link() async throws -> ConnectionHandle {
            try await device.event("a connection") { content in
                guard case .connectionComplete(.success, let link) = content else { return nil }
                return link.handle
            }
        }
    }

    @Test(arguments: [
        // An answer to what was not asked, one that is too short, one that goes back, one without end, no
        // opcode at all.
        "11 06 0100 0500 0018", "11", "11 06 0500 0100 0018", "11 FF", "01", "01 10 0100", "FF 00", "",
        "03", "03 0500 00", "09 00", "0B", "13", "1E",
    ])
    func `a device that answers nonsense is told and left, and nothing hangs`(answer: String) async throws {
        let stage = try await Stage()
        let phone = try Program([
            "connect", "Ill", "--radio", stage.radio, "--command", "read 2A00", "--command", "disconnect",
        ])
        let link = try await stage.link()
        let answering = Task {
            while !Task.isCancelled {
                let request = try await stage.device.receive(of: link)
                // The MTU is agreed on, or it would not come to more.
                stage.device.send(
                    request.first == 0x02 ? [0x03, 0x17, 0x00] : Hex.decode(answer) ?? [], of: link)
                if request.first != 0x02 {
                    // The link ends in any case.
                    try await stage.device.command(
                        .disconnect, Hex.encode(link.littleEndianBytes) + "13")
                }
            }
        }
        let result = try await phone.end()
        answering.cancel()
        #expect(result.status == .exited(1))
        #expect(result.complaint.hasPrefix("error: "))
        #expect(result.complaint.split(separator: "\n").count == 1)
    }

    @Test(arguments: ["", "FF", "02", "0909 41", "1BFF 00", "0516 0F181B5D", "0000FF09"])
    func `a device that advertises nonsense is shown as far as it makes sense`(data: String) async throws {
        let stage = try await Stage(data: data)
        let scan = try Program(["scan", "--format", "json", "--radio", stage.radio])
        #expect(try await scan.output.line(containing: "\"Ill\"") != nil)
        scan.child.send(2)
        let result = try await scan.end()
        #expect(result.status == .exited(0))
        #expect(result.error == "")
    }

    @Test func `a name that appears later is found`() async throws {
        let stage = try await Stage(name: "020106")
        let phone = try Program(["connect", "Ill", "--radio", stage.radio, "--timeout", "10 min"])
        try await until("the device was heard without a name") { stage.controller.reports >= 2 }
        try await stage.advertise("0409496C6C")
        #expect(try await phone.output.line(containing: "connected to C0:00:00:00:00:05 (Ill)") != nil)
        phone.child.send(2)
        _ = try await phone.end()
    }
}
