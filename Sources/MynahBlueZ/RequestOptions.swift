import MynahCore
import MynahDBus

/// The options of ReadValue and WriteValue; `type` is documented and never sent to a server.
struct RequestOptions: Hashable {
    /// The central's Device1.
    var device: String?
    /// From where on, in bytes; only sent when it is not zero.
    var offset = 0
    /// The ATT_MTU of the link, in bytes.
    var mtu: Int?
    /// Whether consent to a prepared write is asked, before anything is written.
    var preparesAuthorization = false

    /// Reads an `a{sv}`; keys that are not known are passed over, and so are known ones of another type.
    init(_ reader: inout MessageReader) throws(DBusError) {
        var options = RequestOptions()
        try reader.readOptions { key, value throws(DBusError) in
            switch (key, value.nextSignature) {
            case ("device", "o"): options.device = try value.readObjectPath().string
            case ("offset", "q"): options.offset = Int(try value.readUInt16())
            // No link has less (Core Specification, Vol 3, Part G, 5.2.1).
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
