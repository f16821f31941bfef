import MynahSupport

/// The result codes for failed requests of secure DFU (Nordic, `nrf_dfu_result_t`).
enum UpdateError: Error, Hashable {
    /// The extended error code, which follows the result 0x0B (`nrf_dfu_ext_error_code_t`).
    enum Extended: UInt8 {
        case unknownCommand = 0x03
        case initInvalid = 0x04
        case firmwareVersion = 0x05
        case hardwareVersion = 0x06
        case signatureMissing = 0x08
        case wrongHashType = 0x09
        case wrongSignatureType = 0x0B
        case verificationFailed = 0x0C
        case insufficientSpace = 0x0D
    }

    case notSupported
    case invalidParameter
    case insufficientResources
    case invalidObject
    case unsupportedType
    case notPermitted
    case extended(Extended)

    /// The result code, and the extended error code if there is one.
    var bytes: [UInt8] {
        switch self {
        case .notSupported: [0x02]
        case .invalidParameter: [0x03]
        case .insufficientResources: [0x04]
        case .invalidObject: [0x05]
        case .unsupportedType: [0x07]
        case .notPermitted: [0x08]
        case .extended(let code): [0x0B, code.rawValue]
        }
    }
}

/// The objects of a secure DFU: the init packet, and the firmware in objects of up to 4096 bytes.
///
/// The firmware's bytes are not stored. The objects outlive a link, so that an interrupted update can be
/// resumed.
struct UpdateObjects: Sendable {
    enum Kind: UInt8 {
        case command = 1
        case data = 2
    }

    /// The received part of an object: its length and CRC.
    struct Progress: Hashable, Sendable {
        var offset: UInt32 = 0
        var crc: UInt32 = 0
    }

    /// The versions of the device, with which an init packet is compared.
    struct Versions: Hashable, Sendable {
        /// The hardware version: a chip of the nRF52 series.
        var hardware: UInt64 = 52
        /// The versions of the application and the SoftDevice.
        var application: UInt64 = 1
        var bootloader: UInt64 = 1
    }

    private struct Received: Sendable {
        var count = 0
        var crc = CRC32()
        var hash = SHA256()

        mutating func add(_ bytes: [UInt8]) {
            count += bytes.count
            crc.update(bytes)
            hash.update(bytes)
        }

        var progress: Progress { Progress(offset: UInt32(clamping: count), crc: crc.value) }
    }

    private struct Command: Sendable {
        var length = 0
        var bytes: [UInt8] = []
        var crc = CRC32()
        /// The init packet, or `nil` if it was not executed yet.
        var accepted: InitPacket?
    }

    static let longestCommand = 512
    static let longestObject = 4096
    private static let page = 4096
    /// The space for firmware, in bytes.
    static let room: UInt64 = 1 << 19
    private static let sha256: UInt64 = 3

    private(set) var versions = Versions()
    private(set) var selected: Kind?
    private var command = Command()
    /// The length and the hash of all received firmware.
    private var received = Received()
    /// The length and the hash of the executed firmware; the current object begins at its end.
    private var executed = Received()
    /// The length of the current firmware object, or 0 if there is none.
    private var objectLength = 0

    // MARK: Requests

    /// Selects an object; returns its maximum length, and the progress of its reception.
    mutating func select(_ kind: Kind) -> (longest: UInt32, progress: Progress) {
        selected = kind
        let longest = kind == .command ? Self.longestCommand : Self.longestObject
        return (UInt32(longest), progress(of: kind))
    }

    private func progress(of kind: Kind) -> Progress {
        switch kind {
        case .command: Progress(offset: UInt32(command.bytes.count), crc: command.crc.value)
        case .data: received.progress
        }
    }

    /// Returns the progress of the selected object.
    func checksum() throws(UpdateError) -> Progress {
        guard let selected else { throw .invalidObject }
        return progress(of: selected)
    }

    /// Creates and selects an object, which replaces the earlier one of its kind.
    mutating func create(_ kind: Kind, length: UInt32) throws(UpdateError) {
        selected = kind
        guard length > 0 else { throw .invalidParameter }
        switch kind {
        case .command:
            guard length <= Self.longestCommand else { throw .insufficientResources }
            // A new init packet starts a new update.
            command = Command(length: Int(length))
            (received, executed, objectLength) = (Received(), Received(), 0)
        case .data:
            guard let whole = command.accepted?.length else { throw .notPermitted }
            let end = UInt64(executed.count) + UInt64(length)
            guard Int(length).isMultiple(of: Self.page) || end == whole else { throw .invalidParameter }
            guard length <= Self.longestObject else { throw .insufficientResources }
            guard end <= whole else { throw .notPermitted }
            received = executed
            objectLength = Int(length)
        }
    }

    /// Adds a packet to the selected object; throws an error if the packet is longer than the object's rest.
    mutating func add(_ bytes: [UInt8]) throws(UpdateError) {
        switch selected {
        case .command:
            guard command.accepted == nil, command.length > 0 else { throw .notPermitted }
            guard bytes.count <= command.length - command.bytes.count else { throw .invalidParameter }
            command.bytes += bytes
            command.crc.update(bytes)
        case .data:
            guard objectLength > 0 else { throw .notPermitted }
            guard bytes.count <= executed.count + objectLength - received.count else {
                throw .invalidParameter
            }
            received.add(bytes)
        case nil: throw .invalidObject
        }
    }

    /// Executes the selected object, and returns whether the update is complete.
    mutating func execute() throws(UpdateError) -> Bool {
        switch selected {
        case .command:
            guard command.length > 0, command.bytes.count == command.length else { throw .notPermitted }
            if command.accepted == nil { command.accepted = try checked(command.bytes) }
            return false
        case .data:
            // A client that did not receive the response may execute an object again.
            guard let packet = command.accepted, received.count == executed.count + objectLength else {
                throw .notPermitted
            }
            (executed, objectLength) = (received, 0)
            guard UInt64(executed.count) == packet.length else { return false }
            return try complete(packet)
        case nil: throw .invalidObject
        }
    }

    /// Compares the hash of the complete firmware with the init packet, and prepares for the next update.
    private mutating func complete(_ packet: InitPacket) throws(UpdateError) -> Bool {
        let isVerified = packet.hash == Array(executed.hash.digest.reversed())
        let versions = versions
        self = UpdateObjects()
        self.versions = versions
        guard isVerified else { throw .extended(.verificationFailed) }
        let version = packet.version ?? 0
        switch packet.type {
        case InitPacket.FirmwareType.bootloader, InitPacket.FirmwareType.softDeviceAndBootloader:
            self.versions.bootloader = version
        case InitPacket.FirmwareType.softDevice: break
        default: self.versions.application = version
        }
        return true
    }

    /// Parses the init packet, and throws an error if the device does not accept its firmware.
    ///
    /// The signature is not verified, because there is no key.
    private func checked(_ bytes: [UInt8]) throws(UpdateError) -> InitPacket {
        guard let packet = try? InitPacket(bytes) else { throw .invalidObject }
        guard packet.isSigned else { throw .extended(.signatureMissing) }
        guard packet.signatureType == 0 else { throw .extended(.wrongSignatureType) }
        guard packet.code == 1 else { throw .extended(.unknownCommand) }
        guard packet.hasInit, packet.type <= InitPacket.FirmwareType.softDeviceAndBootloader,
            let hardware = packet.hardware,
            let version = packet.version ?? (packet.type == InitPacket.FirmwareType.softDevice ? .max : nil)
        else { throw .extended(.initInvalid) }
        guard packet.hashType == Self.sha256 else { throw .extended(.wrongHashType) }
        guard hardware == versions.hardware else { throw .extended(.hardwareVersion) }
        // The same application may be installed again, but a bootloader must be newer.
        let isNewEnough =
            packet.type & InitPacket.FirmwareType.bootloader == 0
            ? version >= versions.application : version > versions.bootloader
        guard isNewEnough else { throw .extended(.firmwareVersion) }
        guard packet.length > 0 else { throw .extended(.initInvalid) }
        guard packet.length <= Self.room else { throw .extended(.insufficientSpace) }
        return packet
    }
}
