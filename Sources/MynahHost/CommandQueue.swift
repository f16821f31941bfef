import MynahHCI

/// Which commands wait for the controller: it takes as many at a time as it gives credits for (Core Specification, Vol 4, Part E, 4.4).
struct CommandQueue {
    /// One that was sent or waits.
    struct Entry {
        var number: UInt64
        var command: HCICommand
    }

    private var waiting: [Entry] = []
    private var sent: [Entry] = []
    private var credits = 1
    private var last: UInt64 = 0

    /// Takes a command, and returns its number.
    mutating func add(_ command: HCICommand) -> UInt64 {
        last += 1
        waiting.append(Entry(number: last, command: command))
        return last
    }

    /// What may be sent now.
    mutating func takeReady() -> [HCICommand] {
        var ready: [HCICommand] = []
        while credits > 0, !waiting.isEmpty {
            credits -= 1
            let entry = waiting.removeFirst()
            sent.append(entry)
            ready.append(entry.command)
        }
        return ready
    }

    /// The controller answered; the number of the command that it answered, or nil where none of ours is meant.
    mutating func answered(_ opcode: HCIOpcode, credits: Int) -> UInt64? {
        self.credits = credits
        guard let index = sent.firstIndex(where: { $0.command.opcode == opcode }) else { return nil }
        return sent.remove(at: index).number
    }

    /// Nobody waits for it any more.
    mutating func forget(_ number: UInt64) {
        waiting.removeAll { $0.number == number }
        sent.removeAll { $0.number == number }
    }
}
