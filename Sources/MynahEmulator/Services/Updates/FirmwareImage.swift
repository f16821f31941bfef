import MynahSupport

struct ImageVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    var major: UInt8
    var minor: UInt8 = 0
    var revision: UInt16 = 0
    var build: UInt32 = 0

    /// The version as MCUmgr writes it; a build number of 0 is omitted.
    var description: String { "\(major).\(minor).\(revision)" + (build == 0 ? "" : ".\(build)") }

    /// Compares versions without their build numbers.
    static func < (one: ImageVersion, other: ImageVersion) -> Bool {
        (one.major, one.minor, one.revision) < (other.major, other.minor, other.revision)
    }
}

/// The header of a MCUboot image (MCUboot, "Image format"), little-endian.
struct ImageHeader: Hashable, Sendable {
    static let length = 32
    static let magic: UInt32 = 0x96F3_B83D
    private static let notBootable: UInt32 = 0x10

    /// The length of the hashed part: the header, the body and the protected TLVs.
    let hashedLength: Int
    let version: ImageVersion
    let isBootable: Bool

    init(_ bytes: [UInt8]) throws(ManagementError) {
        guard bytes.count >= Self.length else { throw .image(.invalidHeader) }
        var reader = ByteReader(bytes)
        guard reader.readUInt32() == Self.magic else { throw .image(.invalidMagic) }
        guard reader.readUInt32() != nil, let headerLength = reader.readUInt16(),
            let protected = reader.readUInt16(), let bodyLength = reader.readUInt32(),
            let flags = reader.readUInt32(), let major = reader.readUInt8(), let minor = reader.readUInt8(),
            let revision = reader.readUInt16(), let build = reader.readUInt32()
        else { throw .image(.invalidHeader) }
        hashedLength = Int(headerLength) + Int(bodyLength) + Int(protected)
        version = ImageVersion(major: major, minor: minor, revision: revision, build: build)
        isBootable = flags & Self.notBootable == 0
    }
}

/// An image in a slot of the device, without the image's bytes.
struct FirmwareImage: Hashable, Sendable {
    var version: ImageVersion
    /// The SHA-256 that identifies the image.
    var hash: [UInt8]
    var isBootable = true
    /// `true` if the image's content matches its hash; otherwise the bootloader does not start it.
    var isValid = true
}

/// Parses an image that arrives in pieces.
///
/// Only the hash of the body and the TLVs after it are kept in memory.
struct ImageReader: Sendable {
    private static let tlvMagic: UInt16 = 0x6907
    private static let hashTLV: UInt16 = 0x10
    /// The most bytes of the TLVs, whose length has 16 bits.
    private static let longestTrailer = 0xFFFF

    let header: ImageHeader
    private var body = SHA256()
    private var offset = 0
    private var trailer: [UInt8] = []

    init(_ header: ImageHeader) {
        self.header = header
    }

    mutating func add(_ bytes: [UInt8]) {
        let hashed = bytes.prefix(max(0, header.hashedLength - offset))
        body.update(hashed)
        offset += bytes.count
        trailer += bytes.dropFirst(hashed.count).prefix(Self.longestTrailer - trailer.count)
    }

    /// The image described by the bytes received so far.
    ///
    /// If the TLVs have no hash, the hash of the content identifies the image.
    var image: FirmwareImage {
        let content = body.digest
        let hash = trailerHash ?? content
        return FirmwareImage(
            version: header.version, hash: hash, isBootable: header.isBootable,
            isValid: hash == content && offset >= header.hashedLength)
    }

    private var trailerHash: [UInt8]? {
        var reader = ByteReader(trailer)
        guard reader.readUInt16() == Self.tlvMagic, reader.readUInt16() != nil else { return nil }
        while let type = reader.readUInt16(), let length = reader.readUInt16(),
            let value = reader.readBytes(Int(length))
        {
            if type == Self.hashTLV, value.count == 32 { return value }
        }
        return nil
    }
}
