import MynahCore
import MynahSupport
import Testing

@testable import MynahHCI

@Suite struct CommandTableTests {
    @Test func `no two commands share a position among the supported commands`() {
        var positions: Set<Int> = []
        for row in CommandRow.all.values where row.opcode != .readLocalSupportedCommands {
            #expect((0..<64).contains(row.octet) && (0..<8).contains(row.bit))
            #expect(positions.insert(row.octet * 8 + row.bit).inserted, "\(row.opcode)")
        }
        #expect(positions.count == CommandRow.all.count - 1)
    }

    @Test(arguments: [
        (HCIOpcode.reset, true, true), (.leSetAdvertisingEnable, true, true),
        (.leSetExtendedAdvertisingEnable, true, false), (.leEncrypt, false, true),
        (.leSetPrivacyMode, false, true),
    ])
    func `a command is known to a controller that has what it needs`(
        opcode: HCIOpcode, withoutCipher: Bool, whenLegacy: Bool
    ) {
        let row = CommandRow.all[opcode]
        #expect(row?.isKnown(to: Part.configuration()) == true)
        #expect(row?.isKnown(to: Part.configuration { $0.cipher = nil }) == withoutCipher)
        #expect(row?.isKnown(to: Part.configuration { $0.isExtended = false }) == whenLegacy)
    }

    @Test func `a controller tells its host of every command that it knows`() {
        func count(_ configuration: ControllerConfiguration) -> Int {
            configuration.supportedCommands.reduce(0) { $0 + $1.nonzeroBitCount }
        }
        let all = CommandRow.all.values
        #expect(count(Part.configuration()) == all.count - 1)
        let old = Part.configuration {
            $0.isExtended = false
            $0.cipher = nil
        }
        #expect(count(old) == all.count { $0.generation != .extended && !$0.needsCipher } - 1)
    }

    @Test func `a command whose parameters are too short or too long is refused`() {
        for row in CommandRow.all.values {
            var controller = VirtualController(Part.configuration(), seed: 1)
            #expect(row.perform(nil, on: &controller) == .invalidParameters)
            if let length = row.length {
                let long = [UInt8](repeating: 0, count: length + 1)
                #expect(row.perform(long, on: &controller) == .invalidParameters)
            }
            // Such a command decides on no generation.
            #expect(controller.outbox.generation == nil)
        }
    }

    @Test func `a host keeps to one generation of commands`() {
        for row in CommandRow.all.values where row.generation != nil {
            var controller = VirtualController(Part.configuration(), seed: 1)
            _ = controller.outbox.admits(row.generation == .legacy ? .extended : .legacy)
            let parameters = [UInt8](repeating: 0, count: row.length ?? 0)
            #expect(row.perform(parameters, on: &controller) == .disallowed)
        }
    }
}
