import MynahCore
import MynahHCI
import Testing

@testable import MynahHost

@Suite struct BringUpTests {
    /// The answers of a controller with every feature.
    static let answers: [HCIOpcode: [UInt8]] = [
        .leReadLocalSupportedFeatures: Array(repeating: 0xFF, count: 8),
        .readLocalSupportedCommands: Array(repeating: 0xFF, count: 64),
        .leReadBufferSize: [251, 0, 8],
        .readBufferSize: [0x10, 0x01, 64, 5, 0, 0, 0],
        .readBDADDR: [6, 5, 4, 3, 2, 1],
    ]

    /// Answers every command, and returns the commands.
    static func run(
        _ machine: inout BringUp, _ changed: [HCIOpcode: (HCIStatus, [UInt8])] = [:]
    ) throws(BringUp.Failure) -> [HCIOpcode] {
        var opcodes: [HCIOpcode] = []
        while let (command, _) = machine.next(), opcodes.count < 20 {
            opcodes.append(command.opcode)
            let (status, parameters) = changed[command.opcode] ?? (.success, answers[command.opcode] ?? [])
            try machine.finished(status, parameters)
        }
        return opcodes
    }

    @Test func `a controller is reset, asked what it has, and told what the host wants`() throws {
        var machine = BringUp()
        #expect(
            try Self.run(&machine) == [
                .reset, .leReadLocalSupportedFeatures, .readLocalSupportedCommands, .leReadSupportedStates,
                .setEventMask, .leSetEventMask, .leReadBufferSize, .leWriteSuggestedDefaultDataLength,
                .readBDADDR,
            ])
        #expect(machine.next() == nil && machine.profile.hasExtendedCommands)
        #expect(machine.profile.buffers == .init(size: 251, count: 8))
        #expect(machine.publicAddress == DeviceAddress("01:02:03:04:05:06", kind: .public))
    }

    @Test func `a controller of Bluetooth 4_0 is asked less`() throws {
        var machine = BringUp()
        let opcodes = try Self.run(
            &machine,
            [
                .leReadLocalSupportedFeatures: (.success, [1, 0, 0, 0, 0, 0, 0, 0]),
                .readLocalSupportedCommands: (.unknownCommand, []),
                .leReadBufferSize: (.success, [0, 0, 0]), .readBDADDR: (.success, [0, 0, 0, 0, 0, 0]),
            ])
        #expect(opcodes.contains(.readBufferSize) && !opcodes.contains(.leWriteSuggestedDefaultDataLength))
        var profile = machine.profile
        #expect(profile.style(prefersExtended: true) == .legacy)
        #expect(!machine.profile.hasExtendedCommands && machine.publicAddress == nil)
        #expect(machine.profile.buffers == .init(size: 0x0110, count: 5))
        #expect(machine.profile.supportedCommands == .unlisted)
    }

    @Test func `a refusal or an answer that is too short ends it, but for three commands`() throws {
        var machine = BringUp()
        #expect(throws: BringUp.Failure.refused(purpose: "resetting it", .commandDisallowed)) {
            try Self.run(&machine, [.reset: (.commandDisallowed, [])])
        }
        machine = BringUp()
        #expect(throws: BringUp.Failure.hasNoLE("it lacks LE commands")) {
            try Self.run(&machine, [.leReadLocalSupportedFeatures: (.unknownCommand, [])])
        }
        machine = BringUp()
        #expect(throws: BringUp.Failure.hasNoLE("it reports no LE features")) {
            try Self.run(&machine, [.leReadLocalSupportedFeatures: (.success, [1])])
        }
        machine = BringUp()
        #expect(throws: BringUp.Failure.tooShort("LE buffer size")) {
            try Self.run(&machine, [.leReadBufferSize: (.success, [0])])
        }
        machine = BringUp()
        _ = try Self.run(
            &machine, [.leWriteSuggestedDefaultDataLength: (.commandDisallowed, [])])
        #expect(machine.next() == nil)
    }

    @Test func `the style of the commands is decided once`() throws {
        var machine = BringUp()
        _ = try Self.run(&machine)
        var profile = machine.profile
        #expect(profile.style(prefersExtended: false) == .legacy)
        #expect(profile.style(prefersExtended: true) == .legacy)
        profile = machine.profile
        #expect(profile.style(prefersExtended: true) == .extended)
    }
}
