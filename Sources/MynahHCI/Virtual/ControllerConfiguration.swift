public import MynahCore

/// The capabilities of a virtual controller.
public struct ControllerConfiguration: Sendable {
    /// AES-128 of one block.
    ///
    /// Key and block are in the byte order of FIPS 197. If it returns `nil`, commands that need it are
    /// unknown commands.
    public typealias Cipher = @Sendable (_ key: [UInt8], _ block: [UInt8]) -> [UInt8]?

    /// The controller's public address, by which it is found again.
    public var address: DeviceAddress
    /// The most bytes of one ACL packet, 27 to 251.
    package var packetLength: Int
    /// How many ACL packets it takes before one is acknowledged, 1 to 255.
    package var packetCount: Int
    /// `true` if the controller has advertising sets and the other commands of Bluetooth 5.
    package var isExtended: Bool
    /// How many advertising sets it has.
    package var setCount: Int
    /// How many links it holds.
    package var linkCount: Int
    /// How many devices fit into its filter accept list, and how many into its resolving list.
    package var listLength: Int
    /// AES-128, for LE Encrypt and for resolving addresses.
    package var cipher: Cipher?

    /// A controller with current features and this address.
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
