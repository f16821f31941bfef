/// The opcodes of the Attribute Protocol (Core Specification, Vol 3, Part F, 3.4.8).
package enum ATTOpcode {
    package static let errorResponse: UInt8 = 0x01
    package static let exchangeMTURequest: UInt8 = 0x02
    package static let exchangeMTUResponse: UInt8 = 0x03
    package static let findInformationRequest: UInt8 = 0x04
    package static let findInformationResponse: UInt8 = 0x05
    package static let findByTypeValueRequest: UInt8 = 0x06
    package static let findByTypeValueResponse: UInt8 = 0x07
    package static let readByTypeRequest: UInt8 = 0x08
    package static let readByTypeResponse: UInt8 = 0x09
    package static let readRequest: UInt8 = 0x0A
    package static let readResponse: UInt8 = 0x0B
    package static let readBlobRequest: UInt8 = 0x0C
    package static let readBlobResponse: UInt8 = 0x0D
    package static let readMultipleRequest: UInt8 = 0x0E
    package static let readMultipleResponse: UInt8 = 0x0F
    package static let readByGroupTypeRequest: UInt8 = 0x10
    package static let readByGroupTypeResponse: UInt8 = 0x11
    package static let writeRequest: UInt8 = 0x12
    package static let writeResponse: UInt8 = 0x13
    package static let prepareWriteRequest: UInt8 = 0x16
    package static let prepareWriteResponse: UInt8 = 0x17
    package static let executeWriteRequest: UInt8 = 0x18
    package static let executeWriteResponse: UInt8 = 0x19
    package static let handleValueNotification: UInt8 = 0x1B
    package static let handleValueIndication: UInt8 = 0x1D
    package static let handleValueConfirmation: UInt8 = 0x1E
    package static let readMultipleVariableRequest: UInt8 = 0x20
    package static let readMultipleVariableResponse: UInt8 = 0x21
    package static let multipleHandleValueNotification: UInt8 = 0x23
    package static let writeCommand: UInt8 = 0x52
    package static let signedWriteCommand: UInt8 = 0xD2

    /// The opcodes of PDUs that a server sends: responses, notifications and indications.
    private static let ofServer: Set<UInt8> = [
        errorResponse, exchangeMTUResponse, findInformationResponse, findByTypeValueResponse,
        readByTypeResponse, readResponse, readBlobResponse, readMultipleResponse, readByGroupTypeResponse,
        writeResponse, prepareWriteResponse, executeWriteResponse, handleValueNotification,
        handleValueIndication, readMultipleVariableResponse, multipleHandleValueNotification,
    ]

    /// Whether a PDU with this opcode comes from a server, so that a server must not respond to it.
    package static func isOfServer(_ opcode: UInt8) -> Bool { ofServer.contains(opcode) }

    /// Whether a PDU with this opcode is a command, which never gets a response, not even an error.
    package static func isCommand(_ opcode: UInt8) -> Bool { opcode & 0x40 != 0 }
}
