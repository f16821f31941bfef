/// A command that a virtual controller knows.
struct CommandRow: Sendable {
    /// What a controller must have, to know it.
    enum Need: Sendable {
        case nothing
        case extended
        case cipher
    }

    var opcode: HCIOpcode
    /// Its place among the supported commands (Core Specification, Vol 4, Part E, 6.27).
    var octet: Int
    var bit: Int
    /// How long its parameters are; nil: they say so themselves.
    var length: Int?
    /// Whether it is answered by Command Status, and an event tells later how it went.
    var isLong: Bool
    var need: Need

    init(
        _ opcode: HCIOpcode, _ octet: Int, _ bit: Int, _ length: Int?, isLong: Bool = false,
        _ need: Need = .nothing
    ) {
        self.opcode = opcode
        self.octet = octet
        self.bit = bit
        self.length = length
        self.isLong = isLong
        self.need = need
    }

    static let all: [HCIOpcode: CommandRow] = Dictionary(
        uniqueKeysWithValues: (general + legacy + links + later + extended).map { ($0.opcode, $0) })

    private static let general = [
        CommandRow(.disconnect, 0, 5, 3, isLong: true),
        CommandRow(.readRemoteVersionInformation, 2, 7, 2, isLong: true),
        CommandRow(.setEventMask, 5, 6, 8),
        CommandRow(.reset, 5, 7, 0),
        CommandRow(.readTransmitPowerLevel, 10, 2, 3),
        CommandRow(.readLocalVersionInformation, 14, 3, 0),
        // Read Local Supported Commands has no bit: who asks has it.
        CommandRow(.readLocalSupportedCommands, 64, 0, 0),
        CommandRow(.readLocalSupportedFeatures, 14, 5, 0),
        CommandRow(.readBDADDR, 15, 1, 0),
        CommandRow(.readRSSI, 15, 5, 2),
        CommandRow(.setEventMaskPage2, 22, 2, 8),
        CommandRow(.writeLEHostSupport, 24, 6, 2),
    ]

    private static let legacy = [
        CommandRow(.leSetEventMask, 25, 0, 8),
        CommandRow(.leReadBufferSize, 25, 1, 0),
        CommandRow(.leReadLocalSupportedFeatures, 25, 2, 0),
        CommandRow(.leSetRandomAddress, 25, 4, 6),
        CommandRow(.leSetAdvertisingParameters, 25, 5, 15),
        CommandRow(.leReadAdvertisingChannelTxPower, 25, 6, 0),
        CommandRow(.leSetAdvertisingData, 25, 7, 32),
        CommandRow(.leSetScanResponseData, 26, 0, 32),
        CommandRow(.leSetAdvertisingEnable, 26, 1, 1),
        CommandRow(.leSetScanParameters, 26, 2, 7),
        CommandRow(.leSetScanEnable, 26, 3, 2),
        CommandRow(.leCreateConnection, 26, 4, 25, isLong: true),
        CommandRow(.leCreateConnectionCancel, 26, 5, 0),
        CommandRow(.leReadFilterAcceptListSize, 26, 6, 0),
        CommandRow(.leClearFilterAcceptList, 26, 7, 0),
        CommandRow(.leAddDeviceToFilterAcceptList, 27, 0, 7),
        CommandRow(.leRemoveDeviceFromFilterAcceptList, 27, 1, 7),
    ]

    private static let links = [
        CommandRow(.leConnectionUpdate, 27, 2, 14, isLong: true),
        CommandRow(.leSetHostChannelClassification, 27, 3, 5),
        CommandRow(.leReadChannelMap, 27, 4, 2),
        CommandRow(.leReadRemoteFeatures, 27, 5, 2, isLong: true),
        CommandRow(.leEncrypt, 27, 6, 32, .cipher),
        CommandRow(.leRand, 27, 7, 0),
        CommandRow(.leEnableEncryption, 28, 0, 28, isLong: true),
        CommandRow(.leLongTermKeyRequestReply, 28, 1, 18),
        CommandRow(.leLongTermKeyRequestNegativeReply, 28, 2, 2),
        CommandRow(.leReadSupportedStates, 28, 3, 0),
        CommandRow(.leRemoteConnectionParameterRequestReply, 33, 4, 14),
        CommandRow(.leRemoteConnectionParameterRequestNegativeReply, 33, 5, 3),
        CommandRow(.leSetDataLength, 33, 6, 6),
        CommandRow(.leReadSuggestedDefaultDataLength, 33, 7, 0),
        CommandRow(.leWriteSuggestedDefaultDataLength, 34, 0, 4),
        CommandRow(.leReadMaximumDataLength, 35, 3, 0),
        CommandRow(.leReadPHY, 35, 4, 2),
        CommandRow(.leSetDefaultPHY, 35, 5, 3),
        CommandRow(.leSetPHY, 35, 6, 7, isLong: true),
    ]

    private static let later = [
        CommandRow(.leAddDeviceToResolvingList, 34, 3, 39, .cipher),
        CommandRow(.leRemoveDeviceFromResolvingList, 34, 4, 7, .cipher),
        CommandRow(.leClearResolvingList, 34, 5, 0, .cipher),
        CommandRow(.leReadResolvingListSize, 34, 6, 0, .cipher),
        CommandRow(.leReadPeerResolvableAddress, 34, 7, 7, .cipher),
        CommandRow(.leReadLocalResolvableAddress, 35, 0, 7, .cipher),
        CommandRow(.leSetAddressResolutionEnable, 35, 1, 1, .cipher),
        CommandRow(.leSetResolvablePrivateAddressTimeout, 35, 2, 2, .cipher),
        CommandRow(.leSetPrivacyMode, 39, 2, 8, .cipher),
        CommandRow(.leReadTransmitPower, 38, 7, 0),
    ]

    private static let extended = [
        CommandRow(.leSetAdvertisingSetRandomAddress, 36, 1, 7, .extended),
        CommandRow(.leSetExtendedAdvertisingParameters, 36, 2, 25, .extended),
        CommandRow(.leSetExtendedAdvertisingData, 36, 3, nil, .extended),
        CommandRow(.leSetExtendedScanResponseData, 36, 4, nil, .extended),
        CommandRow(.leSetExtendedAdvertisingEnable, 36, 5, nil, .extended),
        CommandRow(.leReadMaximumAdvertisingDataLength, 36, 6, 0, .extended),
        CommandRow(.leReadNumberOfSupportedAdvertisingSets, 36, 7, 0, .extended),
        CommandRow(.leRemoveAdvertisingSet, 37, 0, 1, .extended),
        CommandRow(.leClearAdvertisingSets, 37, 1, 0, .extended),
        CommandRow(.leSetExtendedScanParameters, 37, 5, nil, .extended),
        CommandRow(.leSetExtendedScanEnable, 37, 6, 6, .extended),
        CommandRow(.leExtendedCreateConnection, 37, 7, nil, isLong: true, .extended),
    ]
}

extension HCIOpcode {
    /// Advertising, scanning and connecting as before Bluetooth 5; a host keeps to these or to the extended ones (Core
    /// Specification, Vol 4, Part E, 3.1.1).
    static let legacyStyle: Set<HCIOpcode> = [
        .leSetAdvertisingParameters, .leReadAdvertisingChannelTxPower, .leSetAdvertisingData,
        .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable,
        .leCreateConnection,
    ]

    /// Those that came with Bluetooth 5.
    static let extendedStyle: Set<HCIOpcode> = [
        .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
        .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
        .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
        .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
    ]
}
