import MynahSupport

/// Which command, by its group and its number within it (Core Specification, Vol 4, Part E, 5.4.1).
public struct HCIOpcode: Hashable, Sendable {
    /// The 16 bits: the group in the upper six.
    public let rawValue: UInt16

    /// The opcode with these bits.
    public init(_ rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A command of a group.
    public init(group: UInt16, command: UInt16) {
        rawValue = group << 10 | command & 0x3FF
    }

    // Link Control, 7.1
    public static let disconnect = HCIOpcode(group: 0x01, command: 0x006)
    public static let readRemoteVersionInformation = HCIOpcode(group: 0x01, command: 0x01D)
    // Controller and Baseband, 7.3
    public static let setEventMask = HCIOpcode(group: 0x03, command: 0x001)
    public static let reset = HCIOpcode(group: 0x03, command: 0x003)
    public static let setEventMaskPage2 = HCIOpcode(group: 0x03, command: 0x063)
    public static let setControllerToHostFlowControl = HCIOpcode(group: 0x03, command: 0x031)
    public static let hostBufferSize = HCIOpcode(group: 0x03, command: 0x033)
    public static let writeLEHostSupport = HCIOpcode(group: 0x03, command: 0x06D)
    // Informational, 7.4
    public static let readLocalVersionInformation = HCIOpcode(group: 0x04, command: 0x001)
    public static let readLocalSupportedCommands = HCIOpcode(group: 0x04, command: 0x002)
    public static let readLocalSupportedFeatures = HCIOpcode(group: 0x04, command: 0x003)
    public static let readBufferSize = HCIOpcode(group: 0x04, command: 0x005)
    public static let readBDADDR = HCIOpcode(group: 0x04, command: 0x009)
    // LE, 7.8
    public static let leSetEventMask = HCIOpcode(group: 0x08, command: 0x001)
    public static let leReadBufferSize = HCIOpcode(group: 0x08, command: 0x002)
    public static let leReadLocalSupportedFeatures = HCIOpcode(group: 0x08, command: 0x003)
    public static let leSetRandomAddress = HCIOpcode(group: 0x08, command: 0x005)
    public static let leSetAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x006)
    public static let leReadAdvertisingChannelTxPower = HCIOpcode(group: 0x08, command: 0x007)
    public static let leSetAdvertisingData = HCIOpcode(group: 0x08, command: 0x008)
    public static let leSetScanResponseData = HCIOpcode(group: 0x08, command: 0x009)
    public static let leSetAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x00A)
    public static let leSetScanParameters = HCIOpcode(group: 0x08, command: 0x00B)
    public static let leSetScanEnable = HCIOpcode(group: 0x08, command: 0x00C)
    public static let leCreateConnection = HCIOpcode(group: 0x08, command: 0x00D)
    public static let leCreateConnectionCancel = HCIOpcode(group: 0x08, command: 0x00E)
    public static let leReadFilterAcceptListSize = HCIOpcode(group: 0x08, command: 0x00F)
    public static let leClearFilterAcceptList = HCIOpcode(group: 0x08, command: 0x010)
    public static let leAddDeviceToFilterAcceptList = HCIOpcode(group: 0x08, command: 0x011)
    public static let leRemoveDeviceFromFilterAcceptList = HCIOpcode(group: 0x08, command: 0x012)
    public static let leConnectionUpdate = HCIOpcode(group: 0x08, command: 0x013)
    public static let leReadRemoteFeatures = HCIOpcode(group: 0x08, command: 0x016)
    public static let leEncrypt = HCIOpcode(group: 0x08, command: 0x017)
    public static let leRand = HCIOpcode(group: 0x08, command: 0x018)
    public static let leEnableEncryption = HCIOpcode(group: 0x08, command: 0x019)
    public static let leLongTermKeyRequestReply = HCIOpcode(group: 0x08, command: 0x01A)
    public static let leLongTermKeyRequestNegativeReply = HCIOpcode(group: 0x08, command: 0x01B)
    public static let leReadSupportedStates = HCIOpcode(group: 0x08, command: 0x01C)
    public static let leSetDataLength = HCIOpcode(group: 0x08, command: 0x022)
    public static let leReadSuggestedDefaultDataLength = HCIOpcode(group: 0x08, command: 0x023)
    public static let leWriteSuggestedDefaultDataLength = HCIOpcode(group: 0x08, command: 0x024)
    public static let leAddDeviceToResolvingList = HCIOpcode(group: 0x08, command: 0x027)
    public static let leRemoveDeviceFromResolvingList = HCIOpcode(group: 0x08, command: 0x028)
    public static let leClearResolvingList = HCIOpcode(group: 0x08, command: 0x029)
    public static let leReadResolvingListSize = HCIOpcode(group: 0x08, command: 0x02A)
    public static let leSetAddressResolutionEnable = HCIOpcode(group: 0x08, command: 0x02D)
    public static let leSetResolvablePrivateAddressTimeout = HCIOpcode(group: 0x08, command: 0x02E)
    public static let leReadMaximumDataLength = HCIOpcode(group: 0x08, command: 0x02F)
    public static let leReadPHY = HCIOpcode(group: 0x08, command: 0x030)
    public static let leSetDefaultPHY = HCIOpcode(group: 0x08, command: 0x031)
    public static let leSetPHY = HCIOpcode(group: 0x08, command: 0x032)
    public static let leSetAdvertisingSetRandomAddress = HCIOpcode(group: 0x08, command: 0x035)
    public static let leSetExtendedAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x036)
    public static let leSetExtendedAdvertisingData = HCIOpcode(group: 0x08, command: 0x037)
    public static let leSetExtendedScanResponseData = HCIOpcode(group: 0x08, command: 0x038)
    public static let leSetExtendedAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x039)
    public static let leReadMaximumAdvertisingDataLength = HCIOpcode(group: 0x08, command: 0x03A)
    public static let leReadNumberOfSupportedAdvertisingSets = HCIOpcode(group: 0x08, command: 0x03B)
    public static let leRemoveAdvertisingSet = HCIOpcode(group: 0x08, command: 0x03C)
    public static let leClearAdvertisingSets = HCIOpcode(group: 0x08, command: 0x03D)
    public static let leSetExtendedScanParameters = HCIOpcode(group: 0x08, command: 0x041)
    public static let leSetExtendedScanEnable = HCIOpcode(group: 0x08, command: 0x042)
    public static let leExtendedCreateConnection = HCIOpcode(group: 0x08, command: 0x043)
    public static let leSetPrivacyMode = HCIOpcode(group: 0x08, command: 0x04E)
}

/// A command of the host (Core Specification, Vol 4, Part E, 5.4.1).
public struct HCICommand: Hashable, Sendable {
    /// Which one.
    public var opcode: HCIOpcode
    /// Its parameters, at most 255 bytes.
    public var parameters: [UInt8]

    /// A command.
    public init(_ opcode: HCIOpcode, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// The command in a packet's body; nil: its lengths do not agree.
    public init?(_ body: [UInt8]) {
        var reader = ByteReader(body)
        guard let opcode = reader.readUInt16(), let length = reader.readUInt8(),
            let parameters = reader.readBytes(Int(length)), reader.isAtEnd
        else { return nil }
        self.init(HCIOpcode(opcode), parameters)
    }

    /// As a packet; parameters past 255 bytes are our own mistake, and are cut.
    public var packet: H4Packet {
        var writer = ByteWriter(capacity: 3 + parameters.count)
        writer.write(opcode.rawValue)
        writer.write(UInt8(min(parameters.count, 255)))
        writer.write(parameters.prefix(255))
        return H4Packet(.command, writer.bytes)
    }
}
