import MynahSupport

/// A controller's answer to a command (Core Specification, Vol 4, Part E, 4.4).
enum CommandAnswer: Hashable, Sendable {
    /// Command Complete: the command is done, with these return parameters after the status.
    case complete(HCIStatus, [UInt8] = [])
    /// Command Status: whether the command was begun; an event reports its result later.
    case status(HCIStatus)

    static let success = CommandAnswer.complete(.success)
    static let disallowed = CommandAnswer.complete(.commandDisallowed)
    static let invalidParameters = CommandAnswer.complete(.invalidCommandParameters)

    /// Success, with the return parameters that `write` writes.
    static func values(_ write: (inout ByteWriter) -> Void) -> CommandAnswer {
        var writer = ByteWriter()
        write(&writer)
        return .complete(.success, writer.bytes)
    }
}

/// The two generations of commands for advertising, scanning and initiating.
///
/// A host must not mix them until it resets the controller (Core Specification, Vol 4, Part E, 3.1.1).
enum CommandGeneration: Hashable, Sendable {
    /// The commands of Bluetooth 4.
    case legacy
    /// The commands of Bluetooth 5.
    case extended
}
