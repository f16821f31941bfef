public import MynahCore

/// The capabilities of a virtual controller.
public struct ControllerConfiguration: Sendable {
    /// Encrypts one block with AES-128.
    ///
    /// The key and the block are in the byte order of FIPS 197. If the function returns `nil`, commands that
    /// need it are unknown commands.
    public typealias Cipher = @Sendable (_ key: [UInt8], _ block: [UInt8]) -> [UInt8]?

    /// The controller's public address, under which peers recognize it.
    public var address: DeviceAddress
    /// The largest length of an ACL packet, 27 to 251 bytes.
    package var packetLength: Int
    /// The number of ACL packets that the controller can buffer, 1 to 255.
    package var packetCount: Int
    /// `true` if the controller supports advertising sets and the other extended commands of Bluetooth 5.
    package var isExtended: Bool
    /// The number of advertising sets.
    package var setCount: Int
    /// The largest number of links.
    package var linkCount: Int
    /// The number of entries in the filter accept list, and in the resolving list.
    package var listLength: Int
    /// AES-128, for LE Encrypt and for resolving addresses.
    package var cipher: Cipher?

    /// Makes the configuration of a controller with this address, by default with the extended commands of
    /// Bluetooth 5.
    public init(
        address: DeviceAddress, packetLength: Int = 251, packetCount: Int = 12, isExtended: Bool = true,
        setCount: Int = 64, linkCount: Int = 16, listLength: Int = 16, cipher: Cipher? = nil
    ) {
        self.address = address
        self.packetLength = min(max(packetLength, 27), 251)
        self.packetCount = min(max(packetCount, 1), 255)
        self.isExtended = isExtended
        self.setCount = min(max(setCount, 1), 0xEF)
        self.linkCount = min(max(linkCount, 1), 255)
        self.listLength = min(max(listLength, 1), 255)
        self.cipher = cipher
    }
}
