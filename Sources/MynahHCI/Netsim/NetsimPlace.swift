/// The location of the radio of an Android emulator.
package struct NetsimPlace: Hashable, Sendable, CustomStringConvertible {
    /// The number of the netsim instance, counted from 1.
    package var instance: Int
    /// The port on this machine on which the instance accepts H4 connections.
    package var port: UInt16
    /// The directories in which the instance's file was searched for.
    var directories: [String]

    /// The address of the radio; every connection to it creates a controller.
    package var address: HCITransportAddress { .tcpClient(host: HCITransportAddress.loopback, port: port) }

    /// The instance and the address of the radio, for messages.
    package var description: String { "netsim instance \(instance), \(HCITransportAddress.loopback):\(port)" }

    /// The name of the instance's file and the directories that were searched, for messages.
    var searched: String {
        "\(NetsimFile.name(instance: instance)) in \(directories.joined(separator: ", "))"
    }
}
