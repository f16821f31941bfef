import MynahHCI
import Testing

@testable import MynahHost

@Suite struct CommandPortTests {
    private func port(_ opcodes: HCIOpcode...) -> CommandPort<Int> {
        var port = CommandPort<Int>()
        for (number, opcode) in opcodes.enumerated() {
            port.add(
                .init(
                    command: HCICommand(opcode), purpose: "\(number)", sender: number,
                    deadline: .seconds(number)))
        }
        return port
    }

    @Test func `as many commands are sent as the controller gives credits for`() {
        var port = port(.reset, .readBDADDR, .leRand)
        #expect(port.takeNext()?.opcode == .reset)
        #expect(port.takeNext() == nil)
        #expect(port.answered(.reset, credits: 2)?.sender == 0)
        #expect(port.takeNext()?.opcode == .readBDADDR)
        #expect(port.takeNext()?.opcode == .leRand)
        #expect(port.takeNext() == nil)
        #expect(port.answered(.leRand, credits: 0)?.sender == 2)
        #expect(port.answered(.readBDADDR, credits: 1)?.sender == 1)
    }

    @Test func `an answer to nothing that was sent only gives credits`() {
        var port = port(.reset, .reset)
        #expect(port.takeNext() != nil)
        #expect(port.answered(HCIOpcode(0), credits: 1) == nil)
        // Two of one kind are answered in order.
        #expect(port.takeNext() != nil)
        #expect(port.answered(.reset, credits: 1)?.sender == 0)
        #expect(port.answered(.reset, credits: 1)?.sender == 1)
        #expect(port.answered(.reset, credits: 1) == nil)
    }

    @Test func `the deadline is that of the command under way longest`() {
        var port = port(.reset, .readBDADDR)
        #expect(port.deadline == .zero)
        _ = port.takeNext()
        #expect(port.deadline == .zero)
        _ = port.answered(.reset, credits: 1)
        #expect(port.deadline == .seconds(1) && port.oldest?.purpose == "1")
        _ = port.takeNext()
        _ = port.answered(.readBDADDR, credits: 1)
        #expect(port.deadline == nil)
    }

    @Test func `a controller that is gone answers none of them, and the next begins with one credit`() {
        var port = port(.reset, .readBDADDR)
        _ = port.takeNext()
        #expect(port.removeAll().map(\.sender) == [0, 1])
        #expect(port.deadline == nil && port.takeNext() == nil)
        port.add(.init(command: HCICommand(.leRand), purpose: "", sender: 7, deadline: .zero))
        #expect(port.takeNext()?.opcode == .leRand)
    }
}
