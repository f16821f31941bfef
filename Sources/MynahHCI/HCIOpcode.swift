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
    package static let disconnect = HCIOpcode(group: 0x01, command: 0x006)
    package static let readRemoteVersionInformation = HCIOpcode(group: 0x01, command: 0x01D)
    // Controller and Baseband, 7.3
    package static let setEventMask = HCIOpcode(group: 0x03, command: 0x001)
    package static let reset = HCIOpcode(group: 0x03, command: 0x003)
    package static let setEventMaskPage2 = HCIOpcode(group: 0x03, command: 0x063)
    package static let setControllerToHostFlowControl = HCIOpcode(group: 0x03, command: 0x031)
    package static let hostBufferSize = HCIOpcode(group: 0x03, command: 0x033)
    package static let readTransmitPowerLevel = HCIOpcode(group: 0x03, command: 0x02D)
    package static let writeLEHostSupport = HCIOpcode(group: 0x03, command: 0x06D)
    // Informational, 7.4
    package static let readLocalVersionInformation = HCIOpcode(group: 0x04, command: 0x001)
    package static let readLocalSupportedCommands = HCIOpcode(group: 0x04, command: 0x002)
    package static let readLocalSupportedFeatures = HCIOpcode(group: 0x04, command: 0x003)
    package static let readBufferSize = HCIOpcode(group: 0x04, command: 0x005)
    package static let readBDADDR = HCIOpcode(group: 0x04, command: 0x009)
    // Status, 7.5
    package static let readRSSI = HCIOpcode(group: 0x05, command: 0x005)
    // LE, 7.8
    package static let leSetEventMask = HCIOpcode(group: 0x08, command: 0x001)
    package static let leReadBufferSize = HCIOpcode(group: 0x08, command: 0x002)
    package static let leReadLocalSupportedFeatures = HCIOpcode(group: 0x08, command: 0x003)
    package static let leSetRandomAddress = HCIOpcode(group: 0x08, command: 0x005)
    package static let leSetAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x006)
    package static let leReadAdvertisingChannelTxPower = HCIOpcode(group: 0x08, command: 0x007)
    package static let leSetAdvertisingData = HCIOpcode(group: 0x08, command: 0x008)
    package static let leSetScanResponseData = HCIOpcode(group: 0x08, command: 0x009)
    package static let leSetAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x00A)
    package static let leSetScanParameters = HCIOpcode(group: 0x08, command: 0x00B)
    package static let leSetScanEnable = HCIOpcode(group: 0x08, command: 0x00C)
    package static let leCreateConnection = HCIOpcode(group: 0x08, command: 0x00D)
    package static let leCreateConnectionCancel = HCIOpcode(group: 0x08, command: 0x00E)
    package static let leReadFilterAcceptListSize = HCIOpcode(group: 0x08, command: 0x00F)
    package static let leClearFilterAcceptList = HCIOpcode(group: 0x08, command: 0x010)
    package static let leAddDeviceToFilterAcceptList = HCIOpcode(group: 0x08, command: 0x011)
    package static let leRemoveDeviceFromFilterAcceptList = HCIOpcode(group: 0x08, command: 0x012)
    package static let leConnectionUpdate = HCIOpcode(group: 0x08, command: 0x013)
    package static let leSetHostChannelClassification = HCIOpcode(group: 0x08, command: 0x014)
    package static let leReadChannelMap = HCIOpcode(group: 0x08, command: 0x015)
    package static let leReadRemoteFeatures = HCIOpcode(group: 0x08, command: 0x016)
    package static let leEncrypt = HCIOpcode(group: 0x08, command: 0x017)
    package static let leRand = HCIOpcode(group: 0x08, command: 0x018)
    package static let leEnableEncryption = HCIOpcode(group: 0x08, command: 0x019)
    package static let leLongTermKeyRequestReply = HCIOpcode(group: 0x08, command: 0x01A)
    package static let leLongTermKeyRequestNegativeReply = HCIOpcode(group: 0x08, command: 0x01B)
    package static let leReadSupportedStates = HCIOpcode(group: 0x08, command: 0x01C)
    package static let leRemoteConnectionParameterRequestReply = HCIOpcode(group: 0x08, command: 0x020)
    package static let leRemoteConnectionParameterRequestNegativeReply =
        HCIOpcode(group: 0x08, command: 0x021)
    package static let leSetDataLength = HCIOpcode(group: 0x08, command: 0x022)
    package static let leReadSuggestedDefaultDataLength = HCIOpcode(group: 0x08, command: 0x023)
    package static let leWriteSuggestedDefaultDataLength = HCIOpcode(group: 0x08, command: 0x024)
    package static let leAddDeviceToResolvingList = HCIOpcode(group: 0x08, command: 0x027)
    package static let leRemoveDeviceFromResolvingList = HCIOpcode(group: 0x08, command: 0x028)
    package static let leClearResolvingList = HCIOpcode(group: 0x08, command: 0x029)
    package static let leReadResolvingListSize = HCIOpcode(group: 0x08, command: 0x02A)
    package static let leReadPeerResolvableAddress = HCIOpcode(group: 0x08, command: 0x02B)
    package static let leReadLocalResolvableAddress = HCIOpcode(group: 0x08, command: 0x02C)
    package static let leSetAddressResolutionEnable = HCIOpcode(group: 0x08, command: 0x02D)
    package static let leSetResolvablePrivateAddressTimeout = HCIOpcode(group: 0x08, command: 0x02E)
    package static let leReadMaximumDataLength = HCIOpcode(group: 0x08, command: 0x02F)
    package static let leReadPHY = HCIOpcode(group: 0x08, command: 0x030)
    package static let leSetDefaultPHY = HCIOpcode(group: 0x08, command: 0x031)
    package static let leSetPHY = HCIOpcode(group: 0x08, command: 0x032)
    package static let leSetAdvertisingSetRandomAddress = HCIOpcode(group: 0x08, command: 0x035)
    package static let leSetExtendedAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x036)
    package static let leSetExtendedAdvertisingData = HCIOpcode(group: 0x08, command: 0x037)
    package static let leSetExtendedScanResponseData = HCIOpcode(group: 0x08, command: 0x038)
    package static let leSetExtendedAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x039)
    package static let leReadMaximumAdvertisingDataLength = HCIOpcode(group: 0x08, command: 0x03A)
    package static let leReadNumberOfSupportedAdvertisingSets = HCIOpcode(group: 0x08, command: 0x03B)
    package static let leRemoveAdvertisingSet = HCIOpcode(group: 0x08, command: 0x03C)
    package static let leClearAdvertisingSets = HCIOpcode(group: 0x08, command: 0x03D)
    package static let leSetPeriodicAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x03E)
    package static let leSetPeriodicAdvertisingData = HCIOpcode(group: 0x08, command: 0x03F)
    package static let leSetPeriodicAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x040)
    package static let leSetExtendedScanParameters = HCIOpcode(group: 0x08, command: 0x041)
    package static let leSetExtendedScanEnable = HCIOpcode(group: 0x08, command: 0x042)
    package static let leExtendedCreateConnection = HCIOpcode(group: 0x08, command: 0x043)
    package static let lePeriodicAdvertisingCreateSync = HCIOpcode(group: 0x08, command: 0x044)
    package static let lePeriodicAdvertisingCreateSyncCancel = HCIOpcode(group: 0x08, command: 0x045)
    package static let lePeriodicAdvertisingTerminateSync = HCIOpcode(group: 0x08, command: 0x046)
    package static let leAddDeviceToPeriodicAdvertiserList = HCIOpcode(group: 0x08, command: 0x047)
    package static let leRemoveDeviceFromPeriodicAdvertiserList = HCIOpcode(group: 0x08, command: 0x048)
    package static let leClearPeriodicAdvertiserList = HCIOpcode(group: 0x08, command: 0x049)
    package static let leReadPeriodicAdvertiserListSize = HCIOpcode(group: 0x08, command: 0x04A)
    package static let leReadTransmitPower = HCIOpcode(group: 0x08, command: 0x04B)
    package static let leSetPrivacyMode = HCIOpcode(group: 0x08, command: 0x04E)
    /// LE Set Periodic Advertising Receive Enable.
    package static let leSetPeriodicAdvertisingReceiveEnable = HCIOpcode(group: 0x08, command: 0x059)
    /// LE Set Periodic Advertising Parameters [v2], which can also set subevents.
    package static let leSetPeriodicAdvertisingParametersV2 = HCIOpcode(group: 0x08, command: 0x086)
}
