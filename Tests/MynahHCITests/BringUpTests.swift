import MynahCore
import MynahHCI
import MynahSupport
import Testing

/// The commands that host stacks send before they are used, as their sources list them for a controller with
/// our features and commands; each has the answer that its stack needs.
@Suite struct BringUpTests {
    /// The answer that a stack needs.
    enum Answer: Equatable {
        /// Command Complete with Success, and this number of return parameters after the status.
        case values(Int)
        /// Command Status with Success.
        case begun
        /// Unknown HCI Command.
        case unknown
        /// Another answer, in words.
        case other(String)

        static let done = Answer.values(0)
    }

    struct Step: CustomStringConvertible {
        var opcode: UInt16
        var hex: String
        var answer: Answer

        init(_ opcode: UInt16, _ hex: String = "", _ answer: Answer = .done) {
            (self.opcode, self.hex, self.answer) = (opcode, hex, answer)
        }

        var description: String { "0x" + String(opcode, radix: 16) + " " + hex }
    }

    struct Stack: CustomTestStringConvertible {
        var name: String
        var steps: [Step]
        /// The commands by which it scans, and the event that reports an advertisement.
        var scan: [Step]
        var report: UInt8
        /// The commands by which it stops its scan and connects to the device 2, and the event of the link.
        var connect: [Step]
        var link: UInt8

        var testDescription: String { name }
    }

    // MARK: The stacks

    private static let peer = "0200000000C0"
    private static let noKey = String(repeating: "00", count: 16)
    /// The parameters of a link: a scan interval and window, an interval of 30 to 50 ms, no latency, 4.2 s.
    private static let parameters = "6000 6000 1800 2800 0000 A401 0000 0000"

    /// Linux 6.1 to 6.12: `hci_init_sync` in net/bluetooth/hci_sync.c, and what bluetoothd 5.66 lets it send
    /// when it powers the adapter.
    private static let linux = Stack(
        name: "Linux",
        steps: [
            Step(0x0C03), Step(0x1003, "", .values(8)), Step(0x1001, "", .values(8)),
            Step(0x1009, "", .values(6)), Step(0x1002, "", .values(64)), Step(0x2003, "", .values(8)),
            Step(0x2002, "", .values(3)), Step(0x201C, "", .values(8)), Step(0x0C01, "90E8040200800020"),
            Step(0x2001, "7F1A020000000000"), Step(0x204B, "", .values(2)), Step(0x200F, "", .values(1)),
            Step(0x2010), Step(0x202A, "", .values(1)), Step(0x2029), Step(0x202E, "8403"),
            Step(0x202F, "", .values(8)), Step(0x2023, "", .values(4)), Step(0x203B, "", .values(1)),
            Step(0x2024, "FB009042"), Step(0x2031, "000101"),
            // The adapter is powered: no advertising set is left, and the address is private or static.
            Step(0x203D), Step(0x2005, "112233445566"), Step(0x0CFF, "", .unknown),
        ],
        scan: [
            Step(0x2041, "01 00 05 01 6000 6000 01 6000 6000"), Step(0x2042, "01 01 0000 0000"),
        ], report: 0x0D,
        connect: [
            Step(0x2042, "00 00 0000 0000"), Step(0x2043, "00 00 00 \(peer) 01 \(parameters)", .begun),
        ], link: 0x0A)

    /// Apache NimBLE: `ble_hs_startup_go` in nimble/host/src/ble_hs_startup.c, `ble_hs_pvcy_set_our_irk`, and
    /// the flow control of builds with BLE_HS_FLOW_CTRL, without which the host goes on.
    private static let nimble = Stack(
        name: "NimBLE",
        steps: [
            Step(0x0C03), Step(0x1001, "", .values(8)), Step(0x1002, "", .values(64)),
            Step(0x1003, "", .values(8)), Step(0x0C01, "9080000200800020"),
            Step(0x0C63, "0000800000000000"), Step(0x2001, "7FFE0F0000000000"),
            Step(0x2002, "", .values(3)), Step(0x2003, "", .values(8)), Step(0x1009, "", .values(6)),
            Step(0x202D, "00"), Step(0x2029), Step(0x202D, "01"),
            Step(0x2027, "00 000000000000" + noKey + String(repeating: "5A", count: 16)),
            Step(0x204E, "00 000000000000 01"), Step(0x0C31, "01", .unknown),
            Step(0x0C33, "FB00 00 0C00 0000", .unknown), Step(0x202E, "2C01"), Step(0x2018, "", .values(8)),
            Step(0x2005, "1122334455C6"),
        ],
        scan: [Step(0x200B, "01 1000 1000 00 00"), Step(0x200C, "01 00")], report: 0x02,
        connect: [
            Step(0x200C, "00 00"),
            Step(0x200D, "1000 1000 00 00 \(peer) 00 1800 2800 0000 0001 0000 0003", .begun),
        ], link: 0x0A)

    /// BTstack: `hci_initializing_run` in src/hci.c of a build without extended advertising, which hides LE
    /// Enhanced Connection Complete, and of one with BR/EDR, which goes on without a local name.
    private static let btstack = Stack(
        name: "BTstack",
        steps: [
            Step(0x0C03), Step(0x1001, "", .values(8)), Step(0x0C14, "", .unknown),
            Step(0x1002, "", .values(64)), Step(0x1009, "", .values(6)), Step(0x1003, "", .values(8)),
            Step(0x0C01, "FFFFFFFFFFFFFF3F"), Step(0x0C63, "0000000200000000"),
            Step(0x2002, "", .values(3)), Step(0x0C6D, "0100"), Step(0x2001, "FFFDFFFF07FC7F00"),
            Step(0x202F, "", .values(8)), Step(0x2024, "FB009042"), Step(0x200F, "", .values(1)),
            Step(0x202D, "01"), Step(0x202A, "", .values(1)), Step(0x2029),
            Step(0x2027, "00 000000000000" + noKey + String(repeating: "A5", count: 16)),
            Step(0x2005, "1122334455C6"),
        ],
        scan: [Step(0x200B, "00 E001 3000 00 00"), Step(0x200C, "01 00")], report: 0x02,
        connect: [
            Step(0x200C, "00 00"),
            Step(0x200D, "6000 3000 00 00 \(peer) 00 0800 1800 0400 4800 0200 0200", .begun),
        ], link: 0x01)

    /// Zephyr: `hci_init` in subsys/bluetooth/host/hci_core.c with extended advertising, privacy, and the
    /// vendor commands of its own controller.
    private static let zephyr = Stack(
        name: "Zephyr",
        steps: [
            Step(0x0C03), Step(0x1003, "", .values(8)), Step(0x1001, "", .values(8)),
            Step(0x1002, "", .values(64)), Step(0x2018, "", .values(8)), Step(0x2003, "", .values(8)),
            Step(0x2002, "", .values(3)), Step(0x203A, "", .values(2)), Step(0x201C, "", .values(8)),
            Step(0x202F, "", .values(8)), Step(0x2024, "FB009042"), Step(0x202E, "8403"),
            Step(0x202A, "", .values(1)), Step(0x2001, "7E1A070000000000"),
            Step(0x0C01, "9088000200800020"), Step(0xFC01, "", .unknown), Step(0xFC09, "", .unknown),
            Step(0x1009, "", .values(6)), Step(0x2005, "1122334455C6"),
        ],
        scan: [Step(0x2041, "01 00 01 00 6000 3000"), Step(0x2042, "01 01 0000 0000")], report: 0x0D,
        connect: [
            Step(0x2042, "00 00 0000 0000"), Step(0x2043, "00 01 00 \(peer) 01 \(parameters)", .begun),
        ], link: 0x0A)

    /// Bumble: `Host.reset` in bumble/host.py and `Device.power_on` in bumble/device.py.
    private static let bumble = Stack(
        name: "Bumble",
        steps: [
            Step(0x0C03), Step(0x1002, "", .values(64)), Step(0x1001, "", .values(8)),
            Step(0x2003, "", .values(8)), Step(0x1003, "", .values(8)), Step(0x0C01, "FF9FFFBF07F8BF3D"),
            Step(0x0C63, "0000000200000000"), Step(0x2001, "FFFFF7FF0FED7B00"),
            Step(0x2002, "", .values(3)), Step(0x2023, "", .values(4)), Step(0x2024, "FB004808"),
            Step(0x203B, "", .values(1)), Step(0x203A, "", .values(2)), Step(0x1009, "", .values(6)),
            Step(0x0C6D, "0100"), Step(0x2005, "F5F4F3F2F1F0"), Step(0x2029), Step(0x202D, "01"),
        ],
        scan: [
            Step(0x2041, "01 00 05 01 6000 6000 01 6000 6000"), Step(0x2042, "01 00 0000 0000"),
        ], report: 0x0D,
        connect: [
            Step(0x2042, "00 00 0000 0000"), Step(0x2043, "00 01 00 \(peer) 01 \(parameters)", .begun),
        ], link: 0x0A)

    static let stacks = [linux, nimble, btstack, zephyr, bumble]

    // MARK: The tests

    @Test(arguments: stacks) func `a stack gets the answers that it needs, finds a device and connects`(
        stack: Stack
    ) throws {
        var rig = AirRig()
        let device = rig.join(2)
        let host = rig.air.join(ControllerConfiguration(address: AirRig.address(1), cipher: AirRig.cipher))
        expect(stack.steps, of: host, in: &rig)
        rig.advertise(device)
        expect(stack.scan, of: host, in: &rig)
        rig.pass(milliseconds: 500)
        #expect(Self.leEvents(rig.take(host)).contains(stack.report))
        expect(stack.connect, of: host, in: &rig)
        rig.pass(milliseconds: 500)
        #expect(Self.leEvents(rig.take(host)).contains(stack.link))
    }

    @Test(arguments: stacks) func `a command is answered if it is listed, and unknown if not`(stack: Stack) {
        var rig = AirRig()
        let host = rig.air.join(ControllerConfiguration(address: AirRig.address(1), cipher: AirRig.cipher))
        let listed = HCISupportedCommands(rig.values(.readLocalSupportedCommands, "", host))
        #expect(listed != nil)
        for step in stack.steps where step.answer != .unknown {
            #expect(listed?.allows(HCIOpcode(step.opcode)) == true, "\(step)")
        }
    }

    /// The bits of the commands that a host asks for before it sends one, and that we have no row for.
    @Test(arguments: [
        ("Read Local Name", 7, 0), ("Set Controller To Host Flow Control", 10, 5),
        ("Host Buffer Size", 10, 6),
        ("Host Number Of Completed Packets", 10, 7), ("Read Buffer Size", 14, 7),
        ("Read Local Extended Features", 14, 6), ("LE Read Local P-256 Public Key", 34, 1),
        ("LE Generate DHKey", 34, 2), ("LE Read Buffer Size [v2]", 41, 5), ("LE Set Host Feature", 44, 1),
    ]) func `a command without an answer is not listed`(name: String, octet: Int, bit: Int) throws {
        var rig = AirRig()
        let host = rig.join(1)
        let octets = rig.values(.readLocalSupportedCommands, "", host)
        try #require(octets.count == 64)
        #expect(octets[octet] & 1 << bit == 0, "\(name)")
    }

    private func expect(_ steps: [Step], of host: Station, in rig: inout AirRig) {
        for step in steps {
            _ = rig.take(host)
            rig.send(HCIOpcode(step.opcode), step.hex.filter { $0 != " " }, host)
            #expect(Self.answer(rig.take(host), to: step.opcode) == step.answer, "\(step)")
        }
    }

    private static func answer(_ packets: [H4Packet], to opcode: UInt16) -> Answer {
        guard let first = packets.first, first.type == .event,
            let event = HCIEvent(first.body).flatMap({ HCIEventContent($0) })
        else { return .other("no event") }
        switch event {
        case .commandComplete(HCIOpcode(opcode), _, let values) where values.first == 0:
            return .values(values.count - 1)
        case .commandComplete(HCIOpcode(opcode), _, let values) where values.first == 1: return .unknown
        case .commandStatus(HCIOpcode(opcode), _, let status):
            return status == .success ? .begun : status == .unknownCommand ? .unknown : .other(status.name)
        default: return .other("\(event)")
        }
    }

    private static func leEvents(_ packets: [H4Packet]) -> [UInt8] {
        packets.compactMap { packet in
            packet.type == .event && packet.body.count > 2 && packet.body[0] == HCIEvent.leMeta
                ? packet.body[2] : nil
        }
    }
}
