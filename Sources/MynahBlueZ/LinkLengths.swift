import MynahCore

/// Compares the length of a value with the longest value that each link carries.
///
/// bluetoothd cuts a value to ATT_MTU − 3 of each link without an error (Core Specification, Vol 3, Part F,
/// 3.4.7.1). The ATT_MTU is known only from the options of a read or a write.
struct LinkLengths {
    private let count: Int
    /// The centrals whose links are too short for the value, each with the length that its link carries.
    private var short: [Peer.ID: Int] = [:]
    /// Whether a link may be too short, because its ATT_MTU is not known.
    private(set) var hasUnknown = false

    /// The length of a value that every link carries.
    private static let usual = GATT.defaultMTU - GATT.notificationHeaderLength

    init(_ count: Int) {
        self.count = count
    }

    mutating func add(_ centrals: some Sequence<CentralTable.Central>) {
        guard count > Self.usual else { return }
        for central in centrals {
            guard let mtu = central.mtu else {
                hasUnknown = true
                continue
            }
            let length = mtu - GATT.notificationHeaderLength
            if length < count { short[central.id] = length }
        }
    }

    /// The centrals whose links are known to be too short for the value.
    var tooShort: [Peer.ID] { short.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The longest part of the value that every link carries, in bytes, or `nil` if every link carries all of
    /// it.
    var shortest: Int? {
        let known = short.values.min()
        return hasUnknown ? Self.usual : known
    }

    /// The parts in which the value is sent on a link.
    ///
    /// If `inPieces` is `true`, a value that is too long is divided into pieces. Otherwise only its first
    /// bytes are sent.
    func parts(of value: [UInt8], for central: Peer.ID, inPieces: Bool) -> [[UInt8]] {
        if inPieces { return (short[central] ?? shortest).map { value.pieces(of: $0) } ?? [value] }
        return [short[central].map { Array(value.prefix($0)) } ?? value]
    }

    func cutWarning(_ uuid: BluetoothUUID, for central: Peer.ID) -> RadioWarning {
        RadioWarning(
            "valueTooLong",
            """
            the value of \(uuid) has \(count) bytes and a link carries \(short[central] ?? count) \
            (ATT_MTU − 3): it is cut to that
            """)
    }

    func unknownWarning(_ uuid: BluetoothUUID) -> RadioWarning {
        RadioWarning(
            "mtuUnknown",
            """
            the value of \(uuid) has \(count) bytes; a central's MTU is not known until it reads or \
            writes, and bluetoothd cuts what is longer than MTU − 3
            """)
    }
}
