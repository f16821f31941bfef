import MynahCore
import MynahHCI
import MynahSupport

/// Resets a controller, reads its features, and sets the host's event masks (Core Specification, Vol 6, Part
/// D, 2.1).
///
/// This state machine has no I/O: `next()` returns one command at a time, and `finished` handles its result.
struct BringUp {
    /// The reason why a controller cannot be used.
    enum Failure: Error, Hashable {
        case refused(purpose: String, HCIStatus)
        /// The controller does not support LE; the text says how the host found out.
        case hasNoLE(String)
        /// The return parameters are too short; the text names the missing information.
        case tooShort(String)
    }

    private enum Step: Hashable {
        case reset
        case readFeatures
        case readCommands
        case readStates
        case setEventMask
        case setLEEventMask
        case readLEBuffers
        /// Read the BR/EDR buffer sizes, because LE shares these buffers (Vol 4, Part E, 7.8.2).
        case readBuffers
        case suggestDataLength
        case readAddress
        case done
    }

    private var step = Step.reset
    private var features: [UInt8] = []
    /// The information that the controller has returned so far.
    private(set) var profile = ControllerProfile()
    /// The public address, or `nil` if the controller has none.
    private(set) var publicAddress: DeviceAddress?

    /// The next command with its purpose, or `nil` after the last one.
    func next() -> (HCICommand, purpose: String)? {
        switch step {
        case .reset: (HCICommand(.reset), "resetting it")
        case .readFeatures: (HCICommand(.leReadLocalSupportedFeatures), "reading its LE features")
        case .readCommands: (HCICommand(.readLocalSupportedCommands), "reading its supported commands")
        case .readStates: (HCICommand(.leReadSupportedStates), "reading its supported states")
        case .setEventMask: (HCICommand(.setEventMask, EventMask.host), "setting its event mask")
        case .setLEEventMask:
            (
                HCICommand(.leSetEventMask, EventMask.le(isExtended: profile.hasExtendedCommands)),
                "setting its LE event mask"
            )
        case .readLEBuffers: (HCICommand(.leReadBufferSize), "reading its LE buffers")
        case .readBuffers: (HCICommand(.readBufferSize), "reading its buffers")
        case .suggestDataLength:
            (HCICommand(.leWriteSuggestedDefaultDataLength, Self.longestPackets), "suggesting longer packets")
        case .readAddress: (HCICommand(.readBDADDR), "reading its address")
        case .done: nil
        }
    }

    /// The suggested default data length: 251 bytes in 2,120 µs (Vol 4, Part E, 7.8.35).
    ///
    /// Without it, packets have at most 27 bytes unless the peer starts a data length update.
    private static let longestPackets: [UInt8] = [251, 0, 0x48, 0x08]

    /// Handles the result of the current command; the parameters follow the status.
    mutating func finished(_ status: HCIStatus, _ parameters: [UInt8]) throws(Failure) {
        guard status == .success else { return try refused(status) }
        var reader = ByteReader(parameters)
        switch step {
        case .reset: step = .readFeatures
        case .readFeatures:
            features = reader.readRest()
            guard features.count >= 8 else { throw .hasNoLE("it reports no LE features") }
            // LE Extended Advertising is bit 12 (Vol 6, Part B, 4.6).
            profile.hasExtendedCommands = features[1] & 0x10 != 0
            step = .readCommands
        case .readCommands:
            profile.supportedCommands = HCISupportedCommands(reader.readRest()) ?? .unlisted
            step = profile.supportedCommands.allows(.leReadSupportedStates) ? .readStates : .setEventMask
        case .readStates:
            if let states = reader.readUInt64() { profile.states = SupportedStates(rawValue: states) }
            step = .setEventMask
        case .setEventMask: step = .setLEEventMask
        case .setLEEventMask: step = .readLEBuffers
        case .readLEBuffers: try takeLEBuffers(&reader)
        case .readBuffers: try takeBuffers(&reader)
        case .suggestDataLength: step = .readAddress
        case .readAddress:
            let address = reader.readAddress(kind: 0)
            publicAddress = address?.value == 0 ? nil : address
            step = .done
        case .done: break
        }
    }

    private mutating func takeLEBuffers(_ reader: inout ByteReader) throws(Failure) {
        guard let size = reader.readUInt16(), let count = reader.readUInt8() else {
            throw .tooShort("LE buffer size")
        }
        guard size > 0, count > 0 else { return step = .readBuffers }
        profile.buffers = .init(size: Int(size), count: Int(count))
        step = afterBuffers
    }

    private mutating func takeBuffers(_ reader: inout ByteReader) throws(Failure) {
        guard let size = reader.readUInt16(), reader.readUInt8() != nil, let count = reader.readUInt16()
        else { throw .tooShort("buffer size") }
        profile.buffers = .init(size: Int(size), count: Int(count))
        step = afterBuffers
    }

    /// The step after the buffer sizes were read.
    ///
    /// The host suggests a data length if the controller supports LE Data Packet Length Extension, feature
    /// bit 5 (Vol 6, Part B, 4.6).
    private var afterBuffers: Step { features[0] & 0x20 != 0 ? .suggestDataLength : .readAddress }

    private mutating func refused(_ status: HCIStatus) throws(Failure) {
        switch step {
        // Bring-up can continue without the result of these commands.
        case .readCommands, .readStates: step = .setEventMask
        case .suggestDataLength: step = .readAddress
        case .readFeatures where status == .unknownCommand: throw .hasNoLE("it lacks LE commands")
        default: throw .refused(purpose: next()?.purpose ?? "", status)
        }
    }
}

/// The masks of the events that the host enables.
enum EventMask {
    /// All events of the default mask, and LE Meta (Core Specification, Vol 4, Part E, 7.3.1).
    static let host: [UInt8] = [0xFF, 0xFF, 0xFB, 0xFF, 0x07, 0xF8, 0xBF, 0x3D]

    /// The LE events to enable (7.8.1).
    ///
    /// With extended commands, these include extended advertising reports, periodic advertising and the end
    /// of a scan.
    static func le(isExtended: Bool) -> [UInt8] {
        [0x7F, isExtended ? 0xF6 : 0x06, isExtended ? 0x01 : 0, 0, 0, 0, 0, 0]
    }
}
