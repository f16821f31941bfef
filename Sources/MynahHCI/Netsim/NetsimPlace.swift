/// The location of the radio of an Android emulator.
package struct NetsimPlace: Hashable, Sendable, CustomStringConvertible {
    /// netsim's instance, counted from 1.
    package var instance: Int
    /// The port on this machine on which the instance speaks H4.
    package var port: UInt16
    /// The directories that were searched for the instance's file.
    var directories: [String]

    /// The address of the radio; each connection to it creates a controller.
    package var address: HCITransportAddress { .tcpClient(host: HCITransportAddress.loopback, port: port) }

    /// The name and the address for messages.
    package var description: String { "netsim instance \(instance), \(HCITransportAddress.loopback):\(port)" }

    /// The directories that were searched for its file, for messages.
    var searched: String {
        "\(NetsimFile.name(instance: instance)) in \(directories.joined(separator: ", "))"
    }
}
