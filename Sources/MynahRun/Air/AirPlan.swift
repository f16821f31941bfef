package import MynahCore
package import MynahHCI

/// The controllers that `mynah air` offers, and how hosts reach them.
package struct AirPlan: Sendable {
    /// The places where hosts connect, as `tcp-server:` and `unix-server:` addresses.
    package var places: [HCITransportAddress] = []
    /// The number of adapters of this machine.
    package var adapterCount = 0
    /// The device file of the kernel's module that makes adapters.
    package var adapterPath = VirtualAdapter.path
    /// The public address of the first controller; each further one has the next number.
    package var address: DeviceAddress
    /// The name of hosts, before their number.
    package var name = AirPlan.usualName

    /// The name of hosts if the user gives none.
    package static let usualName = "host"
    /// The place where hosts connect if the user names none.
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
