import MynahSupport

/// The opcode of a command: its group and its number within the group (Core Specification, Vol 4, Part E,
/// 5.4.1).
package struct HCIOpcode: Hashable, Sendable {
    /// The 16 bits of the opcode, the upper six of which are the group.
    package let rawValue: UInt16

    /// Makes an opcode from its 16 bits.
    package init(_ rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Makes the opcode of a command in a group.
    package init(group: UInt16, command: UInt16) {
        rawValue = group << 10 | command & 0x3FF
    }

    // Link Control, 7.1
    /// Disconnect.
    package static let disconnect = HCIOpcode(group: 0x01, command: 0x006)
    /// Read Remote Version Information.
    package static let readRemoteVersionInformation = HCIOpcode(group: 0x01, command: 0x01D)
    // Controller and Baseband, 7.3
    /// Set Event Mask.
    package static let setEventMask = HCIOpcode(group: 0x03, command: 0x001)
    /// Reset.
    package static let reset = HCIOpcode(group: 0x03, command: 0x003)
    /// Set Event Mask Page2.
    package static let setEventMaskPage2 = HCIOpcode(group: 0x03, command: 0x063)
    /// Set Controller To Host Flow Control.
    package static let setControllerToHostFlowControl = HCIOpcode(group: 0x03, command: 0x031)
    /// Host Buffer Size.
    package static let hostBufferSize = HCIOpcode(group: 0x03, command: 0x033)
    /// Read Transmit Power Level.
    package static let readTransmitPowerLevel = HCIOpcode(group: 0x03, command: 0x02D)
    /// Write LEHost Support.
    package static let writeLEHostSupport = HCIOpcode(group: 0x03, command: 0x06D)
    // Informational, 7.4
    /// Read Local Version Information.
    package static let readLocalVersionInformation = HCIOpcode(group: 0x04, command: 0x001)
    /// Read Local Supported Commands.
    package static let readLocalSupportedCommands = HCIOpcode(group: 0x04, command: 0x002)
    /// Read Local Supported Features.
    package static let readLocalSupportedFeatures = HCIOpcode(group: 0x04, command: 0x003)
    /// Read Buffer Size.
    package static let readBufferSize = HCIOpcode(group: 0x04, command: 0x005)
    /// Read BDADDR.
    package static let readBDADDR = HCIOpcode(group: 0x04, command: 0x009)
    // Status, 7.5
    /// Read RSSI.
    package static let readRSSI = HCIOpcode(group: 0x05, command: 0x005)
    // LE, 7.8
    /// LE Set Event Mask.
    package static let leSetEventMask = HCIOpcode(group: 0x08, command: 0x001)
    /// LE Read Buffer Size.
    package static let leReadBufferSize = HCIOpcode(group: 0x08, command: 0x002)
    /// LE Read Local Supported Features.
    package static let leReadLocalSupportedFeatures = HCIOpcode(group: 0x08, command: 0x003)
    /// LE Set Random Address.
    package static let leSetRandomAddress = HCIOpcode(group: 0x08, command: 0x005)
    /// LE Set Advertising Parameters.
    package static let leSetAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x006)
    /// LE Read Advertising Channel Tx Power.
    package static let leReadAdvertisingChannelTxPower = HCIOpcode(group: 0x08, command: 0x007)
    /// LE Set Advertising Data.
    package static let leSetAdvertisingData = HCIOpcode(group: 0x08, command: 0x008)
    /// LE Set Scan Response Data.
    package static let leSetScanResponseData = HCIOpcode(group: 0x08, command: 0x009)
    /// LE Set Advertising Enable.
    package static let leSetAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x00A)
    /// LE Set Scan Parameters.
    package static let leSetScanParameters = HCIOpcode(group: 0x08, command: 0x00B)
    /// LE Set Scan Enable.
    package static let leSetScanEnable = HCIOpcode(group: 0x08, command: 0x00C)
    /// LE Create Connection.
    package static let leCreateConnection = HCIOpcode(group: 0x08, command: 0x00D)
    /// LE Create Connection Cancel.
    package static let leCreateConnectionCancel = HCIOpcode(group: 0x08, command: 0x00E)
    /// LE Read Filter Accept List Size.
    package static let leReadFilterAcceptListSize = HCIOpcode(group: 0x08, command: 0x00F)
    /// LE Clear Filter Accept List.
    package static let leClearFilterAcceptList = HCIOpcode(group: 0x08, command: 0x010)
    /// LE Add Device To Filter Accept List.
    package static let leAddDeviceToFilterAcceptList = HCIOpcode(group: 0x08, command: 0x011)
    /// LE Remove Device From Filter Accept List.
    package static let leRemoveDeviceFromFilterAcceptList = HCIOpcode(group: 0x08, command: 0x012)
    /// LE Connection Update.
    package static let leConnectionUpdate = HCIOpcode(group: 0x08, command: 0x013)
    /// LE Set Host Channel Classification.
    package static let leSetHostChannelClassification = HCIOpcode(group: 0x08, command: 0x014)
    /// LE Read Channel Map.
    package static let leReadChannelMap = HCIOpcode(group: 0x08, command: 0x015)
    /// LE Read Remote Features.
    package static let leReadRemoteFeatures = HCIOpcode(group: 0x08, command: 0x016)
    /// LE Encrypt.
    package static let leEncrypt = HCIOpcode(group: 0x08, command: 0x017)
    /// LE Rand.
    package static let leRand = HCIOpcode(group: 0x08, command: 0x018)
    /// LE Enable Encryption.
    package static let leEnableEncryption = HCIOpcode(group: 0x08, command: 0x019)
    /// LE Long Term Key Request Reply.
    package static let leLongTermKeyRequestReply = HCIOpcode(group: 0x08, command: 0x01A)
    /// LE Long Term Key Request Negative Reply.
    package static let leLongTermKeyRequestNegativeReply = HCIOpcode(group: 0x08, command: 0x01B)
    /// LE Read Supported States.
    package static let leReadSupportedStates = HCIOpcode(group: 0x08, command: 0x01C)
    /// LE Remote Connection Parameter Request Reply.
    package static let leRemoteConnectionParameterRequestReply = HCIOpcode(group: 0x08, command: 0x020)
    /// LE Remote Connection Parameter Request Negative Reply.
    package static let leRemoteConnectionParameterRequestNegativeReply =
        HCIOpcode(group: 0x08, command: 0x021)
    /// LE Set Data Length.
    package static let leSetDataLength = HCIOpcode(group: 0x08, command: 0x022)
    /// LE Read Suggested Default Data Length.
    package static let leReadSuggestedDefaultDataLength = HCIOpcode(group: 0x08, command: 0x023)
    /// LE Write Suggested Default Data Length.
    package static let leWriteSuggestedDefaultDataLength = HCIOpcode(group: 0x08, command: 0x024)
    /// LE Add Device To Resolving List.
    package static let leAddDeviceToResolvingList = HCIOpcode(group: 0x08, command: 0x027)
    /// LE Remove Device From Resolving List.
    package static let leRemoveDeviceFromResolvingList = HCIOpcode(group: 0x08, command: 0x028)
    /// LE Clear Resolving List.
    package static let leClearResolvingList = HCIOpcode(group: 0x08, command: 0x029)
    /// LE Read Resolving List Size.
    package static let leReadResolvingListSize = HCIOpcode(group: 0x08, command: 0x02A)
    /// LE Read Peer Resolvable Address.
    package static let leReadPeerResolvableAddress = HCIOpcode(group: 0x08, command: 0x02B)
    /// LE Read Local Resolvable Address.
    package static let leReadLocalResolvableAddress = HCIOpcode(group: 0x08, command: 0x02C)
    /// LE Set Address Resolution Enable.
    package static let leSetAddressResolutionEnable = HCIOpcode(group: 0x08, command: 0x02D)
    /// LE Set Resolvable Private Address Timeout.
    package static let leSetResolvablePrivateAddressTimeout = HCIOpcode(group: 0x08, command: 0x02E)
    /// LE Read Maximum Data Length.
    package static let leReadMaximumDataLength = HCIOpcode(group: 0x08, command: 0x02F)
    /// LE Read PHY.
    package static let leReadPHY = HCIOpcode(group: 0x08, command: 0x030)
    /// LE Set Default PHY.
    package static let leSetDefaultPHY = HCIOpcode(group: 0x08, command: 0x031)
    /// LE Set PHY.
    package static let leSetPHY = HCIOpcode(group: 0x08, command: 0x032)
    /// LE Set Advertising Set Random Address.
    package static let leSetAdvertisingSetRandomAddress = HCIOpcode(group: 0x08, command: 0x035)
    /// LE Set Extended Advertising Parameters.
    package static let leSetExtendedAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x036)
    /// LE Set Extended Advertising Data.
    package static let leSetExtendedAdvertisingData = HCIOpcode(group: 0x08, command: 0x037)
    /// LE Set Extended Scan Response Data.
    package static let leSetExtendedScanResponseData = HCIOpcode(group: 0x08, command: 0x038)
    /// LE Set Extended Advertising Enable.
    package static let leSetExtendedAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x039)
    /// LE Read Maximum Advertising Data Length.
    package static let leReadMaximumAdvertisingDataLength = HCIOpcode(group: 0x08, command: 0x03A)
    /// LE Read Number Of Supported Advertising Sets.
    package static let leReadNumberOfSupportedAdvertisingSets = HCIOpcode(group: 0x08, command: 0x03B)
    /// LE Remove Advertising Set.
    package static let leRemoveAdvertisingSet = HCIOpcode(group: 0x08, command: 0x03C)
    /// LE Clear Advertising Sets.
    package static let leClearAdvertisingSets = HCIOpcode(group: 0x08, command: 0x03D)
    /// LE Set Extended Scan Parameters.
    package static let leSetExtendedScanParameters = HCIOpcode(group: 0x08, command: 0x041)
    /// LE Set Extended Scan Enable.
    package static let leSetExtendedScanEnable = HCIOpcode(group: 0x08, command: 0x042)
    /// LE Extended Create Connection.
    package static let leExtendedCreateConnection = HCIOpcode(group: 0x08, command: 0x043)
    /// LE Read Transmit Power.
    package static let leReadTransmitPower = HCIOpcode(group: 0x08, command: 0x04B)
    /// LE Set Privacy Mode.
    package static let leSetPrivacyMode = HCIOpcode(group: 0x08, command: 0x04E)
}
