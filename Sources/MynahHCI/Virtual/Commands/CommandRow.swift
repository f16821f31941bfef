import MynahSupport

/// A command that a virtual controller supports, and the function that performs it.
struct CommandRow: Sendable {
    /// Performs the command, or returns `nil` if its parameters are invalid.
    typealias Handler = @Sendable (inout VirtualController, inout ByteReader) -> CommandAnswer?

    var opcode: HCIOpcode
    /// The octet of the command's bit among the supported commands (Core Specification, Vol 4, Part E, 6.27).
    var octet: Int
    var bit: Int
    /// The length of the parameters in bytes, or `nil` if it varies.
    var length: Int?
    /// Whether the command is answered by Command Status, and its result is reported later by an event.
    var isLong: Bool
    /// The generation that the command belongs to, or `nil` if it belongs to both.
    var generation: CommandGeneration?
    /// Whether only a controller with a cipher supports the command.
    var needsCipher: Bool
    var handler: Handler

    init(
        _ opcode: HCIOpcode, _ octet: Int, _ bit: Int, _ length: Int?, _ generation: CommandGeneration? = nil,
        isLong: Bool = false, needsCipher: Bool = false, _ handler: @escaping Handler
    ) {
        self.opcode = opcode
        self.octet = octet
        self.bit = bit
        self.length = length
        self.isLong = isLong
        self.generation = generation
        self.needsCipher = needsCipher
        self.handler = handler
    }

    /// Whether a controller with this configuration supports the command.
    func isKnown(to configuration: ControllerConfiguration) -> Bool {
        if needsCipher { return configuration.cipher != nil }
        return generation != .extended || configuration.isExtended
    }

    /// Performs the command on a controller.
    ///
    /// `parameters` is `nil` if the length in the packet's header is wrong.
    func perform(_ parameters: [UInt8]?, on controller: inout VirtualController) -> CommandAnswer {
        guard let parameters, length.map({ $0 == parameters.count }) ?? true else {
            return .invalidParameters
        }
        if let generation, !controller.outbox.admits(generation) { return .disallowed }
        var reader = ByteReader(parameters)
        return handler(&controller, &reader) ?? .invalidParameters
    }
}
