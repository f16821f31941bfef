import MynahHCI

/// The commands on their way to a controller, which takes as many at a time as it gives credits for (Core
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

    /// The command that is under way longest, or `nil` if there is none.
    var oldest: Entry? { sent.first ?? waiting.first }
    /// The time by which that command must be answered.
    var deadline: Duration? { oldest?.deadline }

    /// Queues a command.
    mutating func add(_ entry: Entry) {
        waiting.append(entry)
    }

    /// Returns the next command that may be sent now, or `nil` if there is none.
    mutating func takeNext() -> HCICommand? {
        guard credits > 0, !waiting.isEmpty else { return nil }
        credits -= 1
        let entry = waiting.removeFirst()
        sent.append(entry)
        return entry.command
    }

    /// Returns the command that the controller answered, or `nil` if it was not sent from here.
    mutating func answered(_ opcode: HCIOpcode, credits: Int) -> Entry? {
        self.credits = credits
        guard let index = sent.firstIndex(where: { $0.command.opcode == opcode }) else { return nil }
        return sent.remove(at: index)
    }

    /// Returns the pending commands, which will not be answered, and resets itself.
    mutating func removeAll() -> [Entry] {
        defer { self = CommandPort() }
        return sent + waiting
    }
}
