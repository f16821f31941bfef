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
    /// Disconnect.
    public static let disconnect = HCIOpcode(group: 0x01, command: 0x006)
    /// Read Remote Version Information.
    public static let readRemoteVersionInformation = HCIOpcode(group: 0x01, command: 0x01D)
    // Controller and Baseband, 7.3
    /// Set Event Mask.
    public static let setEventMask = HCIOpcode(group: 0x03, command: 0x001)
    /// Reset.
    public static let reset = HCIOpcode(group: 0x03, command: 0x003)
    /// Set Event Mask Page2.
    public static let setEventMaskPage2 = HCIOpcode(group: 0x03, command: 0x063)
    /// Set Controller To Host Flow Control.
    public static let setControllerToHostFlowControl = HCIOpcode(group: 0x03, command: 0x031)
    /// Host Buffer Size.
    public static let hostBufferSize = HCIOpcode(group: 0x03, command: 0x033)
    /// Read Transmit Power Level.
    public static let readTransmitPowerLevel = HCIOpcode(group: 0x03, command: 0x02D)
    /// Write LEHost Support.
    public static let writeLEHostSupport = HCIOpcode(group: 0x03, command: 0x06D)
    // Informational, 7.4
    /// Read Local Version Information.
    public static let readLocalVersionInformation = HCIOpcode(group: 0x04, command: 0x001)
    /// Read Local Supported Commands.
    public static let readLocalSupportedCommands = HCIOpcode(group: 0x04, command: 0x002)
    /// Read Local Supported Features.
    public static let readLocalSupportedFeatures = HCIOpcode(group: 0x04, command: 0x003)
    /// Read Buffer Size.
    public static let readBufferSize = HCIOpcode(group: 0x04, command: 0x005)
    /// Read BDADDR.
    public static let readBDADDR = HCIOpcode(group: 0x04, command: 0x009)
    // Status, 7.5
    /// Read RSSI.
    public static let readRSSI = HCIOpcode(group: 0x05, command: 0x005)
    // LE, 7.8
    /// LE Set Event Mask.
    public static let leSetEventMask = HCIOpcode(group: 0x08, command: 0x001)
    /// LE Read Buffer Size.
    public static let leReadBufferSize = HCIOpcode(group: 0x08, command: 0x002)
    /// LE Read Local Supported Features.
    public static let leReadLocalSupportedFeatures = HCIOpcode(group: 0x08, command: 0x003)
    /// LE Set Random Address.
    public static let leSetRandomAddress = HCIOpcode(group: 0x08, command: 0x005)
    /// LE Set Advertising Parameters.
    public static let leSetAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x006)
    /// LE Read Advertising Channel Tx Power.
    public static let leReadAdvertisingChannelTxPower = HCIOpcode(group: 0x08, command: 0x007)
    /// LE Set Advertising Data.
    public static let leSetAdvertisingData = HCIOpcode(group: 0x08, command: 0x008)
    /// LE Set Scan Response Data.
    public static let leSetScanResponseData = HCIOpcode(group: 0x08, command: 0x009)
    /// LE Set Advertising Enable.
    public static let leSetAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x00A)
    /// LE Set Scan Parameters.
    public static let leSetScanParameters = HCIOpcode(group: 0x08, command: 0x00B)
    /// LE Set Scan Enable.
    public static let leSetScanEnable = HCIOpcode(group: 0x08, command: 0x00C)
    /// LE Create Connection.
    public static let leCreateConnection = HCIOpcode(group: 0x08, command: 0x00D)
    /// LE Create Connection Cancel.
    public static let leCreateConnectionCancel = HCIOpcode(group: 0x08, command: 0x00E)
    /// LE Read Filter Accept List Size.
    public static let leReadFilterAcceptListSize = HCIOpcode(group: 0x08, command: 0x00F)
    /// LE Clear Filter Accept List.
    public static let leClearFilterAcceptList = HCIOpcode(group: 0x08, command: 0x010)
    /// LE Add Device To Filter Accept List.
    public static let leAddDeviceToFilterAcceptList = HCIOpcode(group: 0x08, command: 0x011)
    /// LE Remove Device From Filter Accept List.
    public static let leRemoveDeviceFromFilterAcceptList = HCIOpcode(group: 0x08, command: 0x012)
    /// LE Connection Update.
    public static let leConnectionUpdate = HCIOpcode(group: 0x08, command: 0x013)
    /// LE Set Host Channel Classification.
    public static let leSetHostChannelClassification = HCIOpcode(group: 0x08, command: 0x014)
    /// LE Read Channel Map.
    public static let leReadChannelMap = HCIOpcode(group: 0x08, command: 0x015)
    /// LE Read Remote Features.
    public static let leReadRemoteFeatures = HCIOpcode(group: 0x08, command: 0x016)
    /// LE Encrypt.
    public static let leEncrypt = HCIOpcode(group: 0x08, command: 0x017)
    /// LE Rand.
    public static let leRand = HCIOpcode(group: 0x08, command: 0x018)
    /// LE Enable Encryption.
    public static let leEnableEncryption = HCIOpcode(group: 0x08, command: 0x019)
    /// LE Long Term Key Request Reply.
    public static let leLongTermKeyRequestReply = HCIOpcode(group: 0x08, command: 0x01A)
    /// LE Long Term Key Request Negative Reply.
    public static let leLongTermKeyRequestNegativeReply = HCIOpcode(group: 0x08, command: 0x01B)
    /// LE Read Supported States.
    public static let leReadSupportedStates = HCIOpcode(group: 0x08, command: 0x01C)
    /// LE Remote Connection Parameter Request Reply.
    public static let leRemoteConnectionParameterRequestReply = HCIOpcode(group: 0x08, command: 0x020)
    /// LE Remote Connection Parameter Request Negative Reply.
    public static let leRemoteConnectionParameterRequestNegativeReply =
        HCIOpcode(group: 0x08, command: 0x021)
    /// LE Set Data Length.
    public static let leSetDataLength = HCIOpcode(group: 0x08, command: 0x022)
    /// LE Read Suggested Default Data Length.
    public static let leReadSuggestedDefaultDataLength = HCIOpcode(group: 0x08, command: 0x023)
    /// LE Write Suggested Default Data Length.
    public static let leWriteSuggestedDefaultDataLength = HCIOpcode(group: 0x08, command: 0x024)
    /// LE Add Device To Resolving List.
    public static let leAddDeviceToResolvingList = HCIOpcode(group: 0x08, command: 0x027)
    /// LE Remove Device From Resolving List.
    public static let leRemoveDeviceFromResolvingList = HCIOpcode(group: 0x08, command: 0x028)
    /// LE Clear Resolving List.
    public static let leClearResolvingList = HCIOpcode(group: 0x08, command: 0x029)
    /// LE Read Resolving List Size.
    public static let leReadResolvingListSize = HCIOpcode(group: 0x08, command: 0x02A)
    /// LE Read Peer Resolvable Address.
    public static let leReadPeerResolvableAddress = HCIOpcode(group: 0x08, command: 0x02B)
    /// LE Read Local Resolvable Address.
    public static let leReadLocalResolvableAddress = HCIOpcode(group: 0x08, command: 0x02C)
    /// LE Set Address Resolution Enable.
    public static let leSetAddressResolutionEnable = HCIOpcode(group: 0x08, command: 0x02D)
    /// LE Set Resolvable Private Address Timeout.
    public static let leSetResolvablePrivateAddressTimeout = HCIOpcode(group: 0x08, command: 0x02E)
    /// LE Read Maximum Data Length.
    public static let leReadMaximumDataLength = HCIOpcode(group: 0x08, command: 0x02F)
    /// LE Read PHY.
    public static let leReadPHY = HCIOpcode(group: 0x08, command: 0x030)
    /// LE Set Default PHY.
    public static let leSetDefaultPHY = HCIOpcode(group: 0x08, command: 0x031)
    /// LE Set PHY.
    public static let leSetPHY = HCIOpcode(group: 0x08, command: 0x032)
    /// LE Set Advertising Set Random Address.
    public static let leSetAdvertisingSetRandomAddress = HCIOpcode(group: 0x08, command: 0x035)
    /// LE Set Extended Advertising Parameters.
    public static let leSetExtendedAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x036)
    /// LE Set Extended Advertising Data.
    public static let leSetExtendedAdvertisingData = HCIOpcode(group: 0x08, command: 0x037)
    /// LE Set Extended Scan Response Data.
    public static let leSetExtendedScanResponseData = HCIOpcode(group: 0x08, command: 0x038)
    /// LE Set Extended Advertising Enable.
    public static let leSetExtendedAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x039)
    /// LE Read Maximum Advertising Data Length.
    public static let leReadMaximumAdvertisingDataLength = HCIOpcode(group: 0x08, command: 0x03A)
    /// LE Read Number Of Supported Advertising Sets.
    public static let leReadNumberOfSupportedAdvertisingSets = HCIOpcode(group: 0x08, command: 0x03B)
    /// LE Remove Advertising Set.
    public static let leRemoveAdvertisingSet = HCIOpcode(group: 0x08, command: 0x03C)
    /// LE Clear Advertising Sets.
    public static let leClearAdvertisingSets = HCIOpcode(group: 0x08, command: 0x03D)
    /// LE Set Extended Scan Parameters.
    public static let leSetExtendedScanParameters = HCIOpcode(group: 0x08, command: 0x041)
    /// LE Set Extended Scan Enable.
    public static let leSetExtendedScanEnable = HCIOpcode(group: 0x08, command: 0x042)
    /// LE Extended Create Connection.
    public static let leExtendedCreateConnection = HCIOpcode(group: 0x08, command: 0x043)
    /// LE Read Transmit Power.
    public static let leReadTransmitPower = HCIOpcode(group: 0x08, command: 0x04B)
    /// LE Set Privacy Mode.
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
