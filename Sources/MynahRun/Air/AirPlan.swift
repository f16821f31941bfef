package import MynahCore
package import MynahHCI

/// The controllers that `mynah air` offers to other host stacks, and the addresses at which hosts connect.
package struct AirPlan: Sendable {
    /// The places where hosts connect, as `tcp-server:` and `unix-server:` addresses.
    package var places: [HCITransportAddress] = []
    /// The number of virtual adapters that the session adds to this machine.
    package var adapterCount = 0
    /// The device file of the kernel's module `hci_vhci`, which creates these adapters.
    package var adapterPath = VirtualAdapter.path
    /// The public address of the first controller; each further controller has the next higher address.
    package var address: DeviceAddress
    /// The name of every host that connects at one of `places`; the host's number is appended to it.
    package var name = AirPlan.usualName

    /// The default of `name`.
    package static let usualName = "host"
    /// The address at which hosts connect if the user gives none.
    package static let usualPlace = HCITransportAddress.tcpServer(host: "127.0.0.1", port: 6402)

    /// Makes a plan without places; without an address, the addresses are random ones that no manufacturer
    /// has.
    package init(address: DeviceAddress? = nil) {
        // Locally administered (IEEE 802), with room for the numbers of all controllers.
        let random = UInt64.random(in: 0..<1 << 32) << 8
        self.address = address ?? DeviceAddress(value: 0x02 << 40 | random, kind: .public)
    }

    /// The address of the controller with a number, which begins at 1.
    func address(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: address.value &+ UInt64(number - 1), kind: .public)
    }
}
