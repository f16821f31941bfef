import MynahSupport

/// A command of the host (Core Specification, Vol 4, Part E, 5.4.1).
package struct HCICommand: Hashable, Sendable {
    package var opcode: HCIOpcode
    /// The command's parameters, at most 255 bytes.
    package var parameters: [UInt8]

    package init(_ opcode: HCIOpcode, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// Parses a packet's body; returns `nil` if its length is not the one in its header.
    package init?(_ body: [UInt8]) {
        var reader = ByteReader(body)
        guard let opcode = reader.readUInt16(), let length = reader.readUInt8(),
            let parameters = reader.readBytes(Int(length)), reader.isAtEnd
        else { return nil }
        self.init(HCIOpcode(opcode), parameters)
    }

    /// The command as a packet.
    ///
    /// A program must not use more than 255 bytes of parameters; further bytes are cut off.
    package var packet: H4Packet {
        var writer = ByteWriter(capacity: 3 + parameters.count)
        writer.write(opcode.rawValue)
        writer.write(UInt8(min(parameters.count, 255)))
        writer.write(parameters.prefix(255))
        return H4Packet(.command, writer.bytes)
    }
}
