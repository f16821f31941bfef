import MynahCore
import MynahDBus

/// The options of ReadValue and WriteValue.
///
/// The option `type` is documented, but bluetoothd never sends it to a server.
struct RequestOptions: Hashable {
    /// The object path of the central's Device1.
    var device: String?
    /// The offset in bytes; bluetoothd sends this option only if it is not zero.
    var offset = 0
    /// The ATT_MTU of the link, in bytes.
    var mtu: Int?
    /// Whether bluetoothd asks for authorization of a prepared write, before any byte is written.
    var preparesAuthorization = false

    /// Reads a dictionary `a{sv}`; unknown keys, and values of unexpected types, are ignored.
    init(_ reader: inout MessageReader) throws(DBusError) {
        var options = RequestOptions()
        try reader.readOptions { key, value throws(DBusError) in
            switch (key, value.nextSignature) {
            case ("device", "o"): options.device = try value.readObjectPath().string
            case ("offset", "q"): options.offset = Int(try value.readUInt16())
            // No link has a smaller ATT_MTU (Core Specification, Vol 3, Part G, 5.2.1).
            case ("mtu", "q"): options.mtu = max(GATT.defaultMTU, Int(try value.readUInt16()))
            case ("prepare-authorize", "b"): options.preparesAuthorization = try value.readBool()
            default: break
            }
        }
        self = options
    }

    init(device: String? = nil, offset: Int = 0, mtu: Int? = nil, preparesAuthorization: Bool = false) {
        self.device = device
        self.offset = offset
        self.mtu = mtu
        self.preparesAuthorization = preparesAuthorization
    }
}
