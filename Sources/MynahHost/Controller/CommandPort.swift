import MynahHCI

/// The queue of commands to a controller, which accepts as many at a time as it has given credits for (Core
/// Specification, Vol 4, Part E, 4.4).
struct CommandPort<Sender: Sendable>: Sendable {
    /// A command that waits for its turn or for its answer.
    struct Entry: Sendable {
        var command: HCICommand
        /// The command's purpose, as in "refused setting the advertising data".
        var purpose: String
        var sender: Sender
        /// The time by which the controller must answer.
        var deadline: Duration
    }

    private var waiting: [Entry] = []
    private var sent: [Entry] = []
    private var credits = 1

    /// The pending command that was queued first, or `nil` if there is none.
    var oldest: Entry? { sent.first ?? waiting.first }
    /// The time by which the oldest pending command must be answered.
    var deadline: Duration? { oldest?.deadline }

    /// Queues a command.
    mutating func add(_ entry: Entry) {
        waiting.append(entry)
    }

    /// Removes and returns the next command that may be sent now, or returns `nil` if there is none.
    mutating func takeNext() -> HCICommand? {
        guard credits > 0, !waiting.isEmpty else { return nil }
        credits -= 1
        let entry = waiting.removeFirst()
        sent.append(entry)
        return entry.command
    }

    /// Removes and returns the command that the controller answered, or returns `nil` if it was not sent from
    /// this queue.
    mutating func answered(_ opcode: HCIOpcode, credits: Int) -> Entry? {
        self.credits = credits
        guard let index = sent.firstIndex(where: { $0.command.opcode == opcode }) else { return nil }
        return sent.remove(at: index)
    }

    /// Removes and returns all pending commands, which will not be answered.
    mutating func removeAll() -> [Entry] {
        defer { self = CommandPort() }
        return sent + waiting
    }
}
