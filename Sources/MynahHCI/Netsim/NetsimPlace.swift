/// Where the radio of an Android emulator is.
public struct NetsimPlace: Hashable, Sendable, CustomStringConvertible {
    /// netsim's instance, counted from 1.
    public var instance: Int
    /// The port on this machine where it speaks H4.
    public var port: UInt16
    /// The directories that were searched for the instance's file.
    var directories: [String]

    /// Each connection there is a new controller.
    public var address: HCITransportAddress { .tcpClient(host: HCITransportAddress.loopback, port: port) }

    /// For people.
    public var description: String { "netsim instance \(instance), \(HCITransportAddress.loopback):\(port)" }

    /// Where its file was searched, for people.
    var searched: String {
        "\(NetsimFile.name(instance: instance)) in \(directories.joined(separator: ", "))"
    }
}
