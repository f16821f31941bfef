import MynahCore
import MynahSupport

// Every command that a virtual controller knows, in the order of the Core Specification, Vol 4, Part E, 7.
extension CommandRow {
    static let all: [HCIOpcode: CommandRow] = Dictionary(
        uniqueKeysWithValues: [
            general, information, values, addresses, legacyAdvertising, advertisingSets, periodicAdvertising,
            scanning, synchronizing, initiating, lists, connections, procedures,
        ].joined().map { ($0.opcode, $0) })

    private static let general: [CommandRow] = [
        CommandRow(.setEventMask, 5, 6, 8) { $0.outbox.setEventMask(&$1) },
        CommandRow(.reset, 5, 7, 0) { controller, _ in
            controller.reset()
            return .success
        },
        CommandRow(.setEventMaskPage2, 22, 2, 8) { _, _ in .success },
        CommandRow(.writeLEHostSupport, 24, 6, 2) { _, _ in .success },
        CommandRow(.leSetEventMask, 25, 0, 8) { $0.outbox.setLEEventMask(&$1) },
        CommandRow(.leSetHostChannelClassification, 27, 3, 5) { _, _ in .success },
        CommandRow(.leEncrypt, 27, 6, 32, needsCipher: true) { $0.configuration.encrypt(&$1) },
        CommandRow(.leRand, 27, 7, 0) { controller, _ in .values { $0.write(controller.random.next()) } },
    ]

    private static let information: [CommandRow] = [
        CommandRow(.readLocalVersionInformation, 14, 3, 0) { controller, _ in
            controller.configuration.versionAnswer
        },
        // Read Local Supported Commands has no bit: a controller that answers it supports it.
        CommandRow(.readLocalSupportedCommands, 64, 0, 0) { controller, _ in
            .complete(.success, controller.configuration.supportedCommands)
        },
        // BR/EDR Not Supported, and LE Supported (Controller) (Vol 2, Part C, 3.3).
        CommandRow(.readLocalSupportedFeatures, 14, 5, 0) { _, _ in
            .values { $0.write(1 << 37 | 1 << 38 as UInt64) }
        },
        CommandRow(.readBDADDR, 15, 1, 0) { controller, _ in
            .values { $0.write(controller.configuration.address) }
        },
        CommandRow(.leReadBufferSize, 25, 1, 0) { controller, _ in
            .values {
                $0.write(UInt16(controller.configuration.packetLength))
                $0.write(UInt8(controller.configuration.packetCount))
            }
        },
        CommandRow(.leReadLocalSupportedFeatures, 25, 2, 0) { controller, _ in
            .values { $0.write(controller.configuration.features) }
        },
    ]

    private static let values: [CommandRow] = [
        // Every state that has a number, each together with every other (Vol 6, Part B, 1.1.1).
        CommandRow(.leReadSupportedStates, 28, 3, 0) { _, _ in
            .values { $0.write(0x0000_03FF_FFFF_FFFF as UInt64) }
        },
        CommandRow(.leReadMaximumDataLength, 35, 3, 0) { _, _ in
            .values { for value in [251, 17040, 251, 17040] as [UInt16] { $0.write(value) } }
        },
        CommandRow(.leReadMaximumAdvertisingDataLength, 36, 6, 0, .extended) { _, _ in
            .values { $0.write(UInt16(AirPDU.longestData)) }
        },
        CommandRow(.leReadNumberOfSupportedAdvertisingSets, 36, 7, 0, .extended) { controller, _ in
            .values { $0.write(UInt8(controller.configuration.setCount)) }
        },
        CommandRow(.leReadAdvertisingChannelTxPower, 25, 6, 0, .legacy) { _, _ in .complete(.success, [0]) },
        CommandRow(.leReadTransmitPower, 38, 7, 0) { _, _ in
            .complete(
                .success,
                [UInt8(bitPattern: AdvertisingSet.power.lowerBound), UInt8(AdvertisingSet.power.upperBound)])
        },
        CommandRow(.leReadFilterAcceptListSize, 26, 6, 0) { controller, _ in
            .values { $0.write(UInt8(controller.configuration.listLength)) }
        },
        CommandRow(.leReadResolvingListSize, 34, 6, 0, needsCipher: true) { controller, _ in
            .values { $0.write(UInt8(controller.configuration.listLength)) }
        },
    ]

    private static let addresses: [CommandRow] = [
        CommandRow(.leSetRandomAddress, 25, 4, 6) {
            $0.addresses.setRandomAddress(&$1, isInUse: $0.usesRandomAddress)
        },
        CommandRow(.leAddDeviceToResolvingList, 34, 3, 39, needsCipher: true) {
            $0.addresses.resolving.add(&$1, isBusy: $0.isBusy)
        },
        CommandRow(.leRemoveDeviceFromResolvingList, 34, 4, 7, needsCipher: true) {
            $0.addresses.resolving.remove(&$1, isBusy: $0.isBusy)
        },
        CommandRow(.leClearResolvingList, 34, 5, 0, needsCipher: true) { controller, _ in
            controller.addresses.resolving.clear(isBusy: controller.isBusy)
        },
        CommandRow(.leReadPeerResolvableAddress, 34, 7, 7, needsCipher: true) {
            $0.addresses.resolving.readPeerAddress(&$1)
        },
        CommandRow(.leReadLocalResolvableAddress, 35, 0, 7, needsCipher: true) {
            $0.addresses.resolving.readLocalAddress(&$1)
        },
        CommandRow(.leSetAddressResolutionEnable, 35, 1, 1, needsCipher: true) {
            $0.addresses.resolving.enable(&$1, isBusy: $0.isBusy)
        },
        CommandRow(.leSetResolvablePrivateAddressTimeout, 35, 2, 2, needsCipher: true) {
            $0.addresses.resolving.setTimeout(&$1)
        },
        CommandRow(.leSetPrivacyMode, 39, 2, 8, needsCipher: true) {
            $0.addresses.resolving.setPrivacyMode(&$1, isBusy: $0.isBusy)
        },
    ]

    private static let legacyAdvertising: [CommandRow] = [
        CommandRow(.leSetAdvertisingParameters, 25, 5, 15, .legacy) { $0.advertiser.setParameters(&$1) },
        CommandRow(.leSetAdvertisingData, 25, 7, 32, .legacy) {
            $0.advertiser.setData(&$1, isResponse: false)
        },
        CommandRow(.leSetScanResponseData, 26, 0, 32, .legacy) {
            $0.advertiser.setData(&$1, isResponse: true)
        },
        CommandRow(.leSetAdvertisingEnable, 26, 1, 1, .legacy) {
            $0.advertiser.enable(
                &$1, hasRoom: $0.connections.hasRoom, at: $0.now, &$0.addresses, &$0.random)
        },
    ]

    private static let advertisingSets: [CommandRow] = [
        CommandRow(.leSetAdvertisingSetRandomAddress, 36, 1, 7, .extended) {
            $0.advertiser.setRandomAddress(&$1)
        },
        CommandRow(.leSetExtendedAdvertisingParameters, 36, 2, 25, .extended) {
            $0.advertiser.setExtendedParameters(&$1)
        },
        CommandRow(.leSetExtendedAdvertisingData, 36, 3, nil, .extended) {
            $0.advertiser.setExtendedData(&$1, isResponse: false)
        },
        CommandRow(.leSetExtendedScanResponseData, 36, 4, nil, .extended) {
            $0.advertiser.setExtendedData(&$1, isResponse: true)
        },
        CommandRow(.leSetExtendedAdvertisingEnable, 36, 5, nil, .extended) {
            $0.advertiser.enableSets(
                &$1, hasRoom: $0.connections.hasRoom, at: $0.now, &$0.addresses, &$0.random)
        },
        CommandRow(.leRemoveAdvertisingSet, 37, 0, 1, .extended) { $0.advertiser.remove(&$1) },
        CommandRow(.leClearAdvertisingSets, 37, 1, 0, .extended) { controller, _ in
            controller.advertiser.clear()
        },
    ]

    private static let periodicAdvertising: [CommandRow] = [
        CommandRow(.leSetPeriodicAdvertisingParameters, 37, 2, 7, .extended) {
            $0.advertiser.setPeriodicParameters(&$1)
        },
        CommandRow(.leSetPeriodicAdvertisingData, 37, 3, nil, .extended) {
            $0.advertiser.setPeriodicData(&$1)
        },
        CommandRow(.leSetPeriodicAdvertisingEnable, 37, 4, 2, .extended) {
            $0.advertiser.enablePeriodic(&$1, at: $0.now, &$0.random)
        },
    ]

    private static let synchronizing: [CommandRow] = [
        CommandRow(.lePeriodicAdvertisingCreateSync, 38, 0, 14, .extended, isLong: true) {
            $0.synchronizer.create(&$1)
        },
        CommandRow(.lePeriodicAdvertisingCreateSyncCancel, 38, 1, 0, .extended) { controller, _ in
            controller.synchronizer.cancel(&controller.outbox)
        },
        CommandRow(.lePeriodicAdvertisingTerminateSync, 38, 2, 2, .extended) {
            $0.synchronizer.terminate(&$1)
        },
        CommandRow(.leAddDeviceToPeriodicAdvertiserList, 38, 3, 8, .extended) { $0.synchronizer.add(&$1) },
        CommandRow(.leRemoveDeviceFromPeriodicAdvertiserList, 38, 4, 8, .extended) {
            $0.synchronizer.remove(&$1)
        },
        CommandRow(.leClearPeriodicAdvertiserList, 38, 5, 0, .extended) { controller, _ in
            controller.synchronizer.clearList()
        },
        CommandRow(.leReadPeriodicAdvertiserListSize, 38, 6, 0, .extended) { controller, _ in
            .values { $0.write(UInt8(controller.synchronizer.listCapacity)) }
        },
        CommandRow(.leSetPeriodicAdvertisingReceiveEnable, 40, 5, 3, .extended) {
            $0.synchronizer.setReceiving(&$1)
        },
    ]

    private static let scanning: [CommandRow] = [
        CommandRow(.leSetScanParameters, 26, 2, 7, .legacy) { $0.scanner.setParameters(&$1) },
        CommandRow(.leSetScanEnable, 26, 3, 2, .legacy) {
            $0.scanner.enable(&$1, at: $0.now, &$0.addresses, &$0.random)
        },
        CommandRow(.leSetExtendedScanParameters, 37, 5, nil, .extended) {
            $0.scanner.setExtendedParameters(&$1)
        },
        CommandRow(.leSetExtendedScanEnable, 37, 6, 6, .extended) {
            $0.scanner.enableExtended(&$1, at: $0.now, &$0.addresses, &$0.random)
        },
    ]

    private static let initiating: [CommandRow] = [
        CommandRow(.leCreateConnection, 26, 4, 25, .legacy, isLong: true) {
            $0.initiator.create(&$1, $0.connections, $0.addresses)
        },
        CommandRow(.leCreateConnectionCancel, 26, 5, 0) { controller, _ in
            controller.initiator.cancel(controller.addresses, &controller.outbox)
        },
        CommandRow(.leExtendedCreateConnection, 37, 7, nil, .extended, isLong: true) {
            $0.initiator.createExtended(&$1, $0.connections, $0.addresses)
        },
    ]

    private static let lists: [CommandRow] = [
        CommandRow(.leClearFilterAcceptList, 26, 7, 0) { controller, _ in
            controller.acceptList.clear(isInUse: controller.usesAcceptList)
        },
        CommandRow(.leAddDeviceToFilterAcceptList, 27, 0, 7) {
            $0.acceptList.add(&$1, isInUse: $0.usesAcceptList)
        },
        CommandRow(.leRemoveDeviceFromFilterAcceptList, 27, 1, 7) {
            $0.acceptList.remove(&$1, isInUse: $0.usesAcceptList)
        },
    ]

    private static let connections: [CommandRow] = [
        CommandRow(.disconnect, 0, 5, 3, isLong: true) {
            $0.connections.disconnect(&$1, at: $0.now, &$0.outbox)
        },
        CommandRow(.readTransmitPowerLevel, 10, 2, 3) { $0.connections.read(&$1) { _ in [0] } },
        CommandRow(.readRSSI, 15, 5, 2) {
            $0.connections.read(&$1) { [UInt8(bitPattern: $0.supervision.rssi)] }
        },
        CommandRow(.leReadChannelMap, 27, 4, 2) {
            $0.connections.read(&$1) { _ in [0xFF, 0xFF, 0xFF, 0xFF, 0x1F] }
        },
        CommandRow(.leReadPHY, 35, 4, 2) {
            $0.connections.read(&$1) { [$0.phys.current.sending, $0.phys.current.receiving] }
        },
        CommandRow(.leReadSuggestedDefaultDataLength, 33, 7, 0) { controller, _ in
            controller.connections.readSuggestedDataLength()
        },
        CommandRow(.leWriteSuggestedDefaultDataLength, 34, 0, 4) {
            $0.connections.writeSuggestedDataLength(&$1)
        },
        CommandRow(.leSetDefaultPHY, 35, 5, 3) { $0.connections.setDefaultPHYs(&$1) },
    ]

    private static let procedures: [CommandRow] = [
        CommandRow(.readRemoteVersionInformation, 2, 7, 2, isLong: true) {
            $0.connections.readRemoteVersion(&$1, at: $0.now, &$0.outbox)
        },
        CommandRow(.leConnectionUpdate, 27, 2, 14, isLong: true) {
            $0.connections.update(&$1, at: $0.now, &$0.outbox)
        },
        CommandRow(.leReadRemoteFeatures, 27, 5, 2, isLong: true) {
            $0.connections.readRemoteFeatures(&$1, at: $0.now, &$0.outbox)
        },
        CommandRow(.leEnableEncryption, 28, 0, 28, isLong: true) {
            $0.connections.encrypt(&$1, at: $0.now, &$0.random, &$0.outbox)
        },
        CommandRow(.leLongTermKeyRequestReply, 28, 1, 18) {
            $0.connections.replyWithKey(&$1, at: $0.now, &$0.random, &$0.outbox)
        },
        CommandRow(.leLongTermKeyRequestNegativeReply, 28, 2, 2) {
            $0.connections.refuseKey(&$1, at: $0.now, &$0.outbox)
        },
        CommandRow(.leRemoteConnectionParameterRequestReply, 33, 4, 14) {
            $0.connections.acceptUpdate(&$1, at: $0.now, &$0.outbox)
        },
        CommandRow(.leRemoteConnectionParameterRequestNegativeReply, 33, 5, 3) {
            $0.connections.refuseUpdate(&$1, at: $0.now, &$0.outbox)
        },
        CommandRow(.leSetDataLength, 33, 6, 6) {
            $0.connections.setDataLength(&$1, at: $0.now, &$0.outbox)
        },
        CommandRow(.leSetPHY, 35, 6, 7, isLong: true) {
            $0.connections.setPHYs(&$1, at: $0.now, &$0.outbox)
        },
    ]
}
