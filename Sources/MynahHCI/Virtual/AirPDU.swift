package import MynahCore

/// A PDU between stations: an advertising channel PDU, or a frame of a link (Core Specification, Vol 6,
/// Part B, 2).
package enum AirPDU: Hashable, Sendable {
    /// ADV_IND and the other legacy advertising PDUs, or ADV_EXT_IND with its auxiliary PDUs.
    case advertisement(AirAdvertisement)
    /// SCAN_REQ or AUX_SCAN_REQ; `identifier` is the Advertising SID of the set that AUX_SCAN_REQ is for.
    case scanRequest(scanner: DeviceAddress, advertiser: DeviceAddress, identifier: UInt8? = nil)
    /// SCAN_RSP, and AUX_SCAN_RSP.
    case scanResponse(AirAdvertisement)
    /// CONNECT_IND.
    case connect(AirConnect)
    /// A frame of a link.
    case link(LinkFrame)
    /// AUX_SYNC_IND with its AUX_CHAIN_INDs.
    case periodic(AirPeriodic)
}

/// The contents of an advertising PDU.
package struct AirAdvertisement: Hashable, Sendable {
    /// The PDU's properties, numbered as in the Event_Type of extended reports (Vol 4, Part E, 7.7.65.13).
    package struct Properties: OptionSet, Hashable, Sendable {
        /// The bits.
        package let rawValue: UInt8

        /// Makes properties of these bits.
        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The advertiser accepts connections.
        package static let connectable = Properties(rawValue: 0x01)
        /// The advertiser answers scan requests.
        package static let scannable = Properties(rawValue: 0x02)
        /// The PDU is for one station.
        package static let directed = Properties(rawValue: 0x04)
        /// The PDU answers a scan request.
        package static let scanResponse = Properties(rawValue: 0x08)
        /// The PDU is a legacy one.
        package static let legacy = Properties(rawValue: 0x10)
    }

    /// The properties.
    package var properties: Properties
    /// The advertiser's address, AdvA.
    package var address: DeviceAddress
    /// The target's address, TargetA, or `nil` if the PDU is undirected.
    package var target: DeviceAddress?
    /// The advertising set's identifier (Advertising SID), or `nil` in a legacy PDU.
    package var identifier: UInt8?
    /// The PHY of the data: 1 for LE 1M, 2 for LE 2M, 3 for LE Coded; 0 in legacy PDUs.
    package var secondaryPHY: UInt8
    /// `true` if the set is announced on LE Coded, and not on LE 1M.
    package var isPrimaryCoded: Bool
    /// The transmit power in dBm.
    package var power: Int8
    /// The synchronization information of the set's periodic advertising, or `nil` if it has none.
    package var sync: AirSyncInfo?
    /// The AD structures.
    package var data: [UInt8]

    /// Makes a PDU.
    package init(
        _ properties: Properties, address: DeviceAddress, target: DeviceAddress? = nil,
        identifier: UInt8? = nil, secondaryPHY: UInt8 = 0, isPrimaryCoded: Bool = false, power: Int8 = 0,
        sync: AirSyncInfo? = nil, data: [UInt8] = []
    ) {
        self.properties = properties
        self.address = address
        self.target = target
        self.identifier = identifier
        self.secondaryPHY = secondaryPHY
        self.isPrimaryCoded = isPrimaryCoded
        self.power = power
        self.sync = sync
        self.data = data
    }
}

/// The SyncInfo field, with which a scanner finds a periodic advertising train (Core Specification, Vol 6,
/// Part B, 2.3.4.6).
package struct AirSyncInfo: Hashable, Sendable {
    /// The access address of the train.
    package var access: UInt32
    /// The periodic advertising interval, in units of 1.25 ms.
    package var interval: UInt16

    /// The shortest interval, 7.5 ms, in units of 1.25 ms (Vol 4, Part E, 7.8.61).
    static let shortestInterval: UInt16 = 6

    /// Makes the information for a train.
    package init(access: UInt32, interval: UInt16) {
        self.access = access
        self.interval = interval
    }
}

/// A periodic advertising event (Core Specification, Vol 6, Part B, 2.3.3.5).
package struct AirPeriodic: Hashable, Sendable {
    /// The access address of the train.
    package var access: UInt32
    /// The number of the event, paEventCounter.
    package var counter: UInt16
    /// The PHY: 1 for LE 1M, 2 for LE 2M, 3 for LE Coded.
    package var phy: UInt8
    /// The transmit power in dBm.
    package var power: Int8
    /// The AD structures.
    package var data: [UInt8]

    /// Makes an event.
    package init(access: UInt32, counter: UInt16, phy: UInt8, power: Int8, data: [UInt8]) {
        self.access = access
        self.counter = counter
        self.phy = phy
        self.power = power
        self.data = data
    }
}

/// CONNECT_IND, or AUX_CONNECT_REQ, which establishes a link (Core Specification, Vol 6, Part B, 2.3.3.1).
package struct AirConnect: Hashable, Sendable {
    /// The initiator's address, InitA.
    package var initiator: DeviceAddress
    /// The advertiser's address, AdvA.
    package var advertiser: DeviceAddress
    /// The Advertising SID of the set, or `nil` if it was advertised in a legacy PDU.
    package var identifier: UInt8?
    /// The access address of the link.
    package var access: UInt32
    /// The connection parameters.
    package var parameters: LEConnection.Parameters

    /// Makes a request.
    package init(
        initiator: DeviceAddress, advertiser: DeviceAddress, identifier: UInt8? = nil, access: UInt32,
        parameters: LEConnection.Parameters
    ) {
        self.initiator = initiator
        self.advertiser = advertiser
        self.identifier = identifier
        self.access = access
        self.parameters = parameters
    }
}

/// A frame of a link.
///
/// A frame may be lost, and is then sent again.
///
/// A real Link Layer has sequence numbers of one bit and exchanges one PDU after the other. Here many PDUs
/// can be unacknowledged at once.
package struct LinkFrame: Hashable, Sendable {
    /// The access address of the link.
    package var access: UInt32
    /// The sequence number of the content.
    package var sequence: UInt16
    /// The sequence number of the next frame that the sender expects.
    package var expected: UInt16
    /// The content, or `nil` if the frame is only an acknowledgement.
    package var content: LinkPDU?

    /// Makes a frame.
    package init(access: UInt32, sequence: UInt16, expected: UInt16, content: LinkPDU?) {
        self.access = access
        self.sequence = sequence
        self.expected = expected
        self.content = content
    }
}

/// A PDU of a link: data of the hosts, or a control PDU of the controllers (Core Specification, Vol 6, Part
/// B, 2.4).
package enum LinkPDU: Hashable, Sendable {
    /// A host's packet.
    case data(isContinued: Bool, [UInt8])
    /// LL_TERMINATE_IND.
    case terminate(HCIStatus)
    /// LL_ENC_REQ, with a random number of the central.
    case encryptionRequest(random: [UInt8], diversifier: UInt16, nonce: UInt64)
    /// LL_START_ENC_REQ, with a random number of the peripheral.
    case startEncryption(nonce: UInt64)
    /// LL_START_ENC_RSP of the central, which proves that it has the key.
    case encryptionProof(UInt64)
    /// LL_START_ENC_RSP of the peripheral, which ends the procedure.
    case encrypted
    /// LL_REJECT_EXT_IND, as the answer to LL_ENC_REQ.
    case encryptionRejected(HCIStatus)
    /// LL_FEATURE_REQ.
    case featureRequest(UInt64)
    /// LL_FEATURE_RSP.
    case featureResponse(UInt64)
    /// LL_VERSION_IND; the receiver answers with its own, unless `isAnswer` is set.
    case version(version: UInt8, company: UInt16, subversion: UInt16, isAnswer: Bool)
    /// LL_LENGTH_REQ.
    case lengthRequest(DataLengths)
    /// LL_LENGTH_RSP.
    case lengthResponse(DataLengths)
    /// LL_PHY_REQ, with the PHYs that the sender prefers.
    case phyRequest(sending: UInt8, receiving: UInt8)
    /// LL_PHY_UPDATE_IND: the PHYs that the sender uses from now on, for sending and receiving.
    case phyUpdate(sending: UInt8, receiving: UInt8)
    /// LL_CONNECTION_UPDATE_IND.
    case connectionUpdate(LEConnection.Parameters)
    /// LL_CONNECTION_PARAM_REQ; `minimum` is the shortest requested interval, and the parameters have the
    /// longest.
    case parameterRequest(minimum: UInt16, LEConnection.Parameters)
    /// LL_REJECT_EXT_IND, as the answer to a request for connection parameters.
    case parametersRejected(HCIStatus)
}

/// The lengths that a side can receive and wants to send in one PDU (Core Specification, Vol 6, Part B,
/// 2.4.2.21).
package struct DataLengths: Hashable, Sendable {
    /// The largest number of bytes that the side can receive in a PDU.
    package var receivedOctets: UInt16
    /// The longest time of a received PDU, in microseconds.
    package var receivedTime: UInt16
    /// The largest number of bytes that the side wants to send in a PDU.
    package var sentOctets: UInt16
    /// The longest time of a sent PDU, in microseconds.
    package var sentTime: UInt16

    /// Makes data lengths.
    package init(receivedOctets: UInt16, receivedTime: UInt16, sentOctets: UInt16, sentTime: UInt16) {
        self.receivedOctets = receivedOctets
        self.receivedTime = receivedTime
        self.sentOctets = sentOctets
        self.sentTime = sentTime
    }
}
