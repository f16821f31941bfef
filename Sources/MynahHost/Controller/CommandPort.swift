import MynahHCI

/// The queue of commands to a controller, which limits the number of unanswered commands (Core Specification,
/// Vol 4, Part E, 4.4).
struct CommandPort<Sender: Sendable>: Sendable {
    /// A command that waits to be sent or to be answered.
    struct Entry: Sendable {
        var command: HCICommand
        /// The purpose for messages, as in "refused setting the advertising data".
        var purpose: String
        var sender: Sender
        /// The time by which the controller must answer.
        var deadline: Duration
    }

    private var waiting: [Entry] = []
    private var sent: [Entry] = []
    private var credits = 1

    /// The first command in the queue that was not answered, or `nil` if there is none.
    var oldest: Entry? { sent.first ?? waiting.first }
    /// The time by which the oldest command must be answered, or `nil` if there is none.
    var deadline: Duration? { oldest?.deadline }

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

    /// Handles an answer of the controller, and returns the command that it answers.
    ///
    /// Returns `nil` if this queue did not send the command. `credits` is the number of further commands that
    /// the controller accepts (Num_HCI_Command_Packets).
    mutating func answered(_ opcode: HCIOpcode, credits: Int) -> Entry? {
        self.credits = credits
        guard let index = sent.firstIndex(where: { $0.command.opcode == opcode }) else { return nil }
        return sent.remove(at: index)
    }

    /// Removes and returns all commands without an answer, after the loss of the controller.
    mutating func removeAll() -> [Entry] {
        defer { self = CommandPort() }
        return sent + waiting
    }
}
