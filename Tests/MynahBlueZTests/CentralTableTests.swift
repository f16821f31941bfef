import MynahCore
import MynahDBus
import Testing

@testable import MynahBlueZ

@Suite struct CentralTableTests {
    private static let path = "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5"

    private func device(
        isConnected: Bool, isBonded: Bool = false, isTrusted: Bool = false, name: String? = nil
    ) -> BusObjects.Device {
        var objects = BusObjects()
        var properties: [(String, DBusValue)] = [
            ("Address", "F0:F1:F2:F3:F4:F5"), ("AddressType", "random"), ("Connected", .bool(isConnected)),
            ("Bonded", .bool(isBonded)), ("Trusted", .bool(isTrusted)),
        ]
        if let name { properties.append(("Name", .string(name))) }
        objects.add(
            "/d",
            .dictionary(
                key: "s", value: "a{sv}", [.init(.string(BlueZ.device), .options(properties))]))
        return objects.devices["/d"] ?? BusObjects.Device()
    }

    private func words(_ changes: [CentralTable.Change]) -> [String] { changes.map(\.event.word) }

    @Test func `only connected and authorized devices are kept`() {
        var table = CentralTable()
        for number in 0..<1000 {
            #expect(
                table.update("/org/bluez/hci0/dev_\(number)", from: nil, to: device(isConnected: false)) == []
            )
        }
        #expect(table.count == 0)
        for number in 0..<1000 {
            let path = "/org/bluez/hci0/dev_\(number)"
            _ = table.update(path, from: nil, to: device(isConnected: true))
            _ = table.update(path, from: device(isConnected: true), to: device(isConnected: false))
        }
        #expect(table.count == 0)
        _ = table.update("/a", from: nil, to: device(isConnected: true))
        _ = table.update("/b", from: nil, to: device(isConnected: false, isBonded: true))
        _ = table.update("/c", from: nil, to: device(isConnected: false, isTrusted: true))
        #expect(table.count == 3)
        #expect(table.connected.count == 1)
        for path in ["/a", "/b", "/c"] { _ = table.remove(path) }
        #expect(table.count == 0)
    }

    @Test func `an authorized central keeps its identifier, and another one gets a new one`() {
        for isBonded in [true, false] {
            var table = CentralTable()
            let connected = device(isConnected: true, isBonded: isBonded)
            let away = device(isConnected: false, isBonded: isBonded)
            _ = table.update(Self.path, from: nil, to: connected)
            let first = table.connected.first?.id
            #expect(
                table.update(Self.path, from: connected, to: away)
                    == [.disconnected(Peer.ID(1), isBonded: isBonded)])
            _ = table.update(Self.path, from: away, to: connected)
            #expect((table.connected.first?.id == first) == isBonded)
        }
    }

    @Test func `changes of a connected central are reported`() {
        var table = CentralTable()
        let plain = device(isConnected: true)
        let named = device(isConnected: true, name: "phone")
        let bonded = device(isConnected: true, isBonded: true, name: "phone")
        #expect(
            words(table.update(Self.path, from: nil, to: plain)) == ["connected F0:F1:F2:F3:F4:F5"])
        #expect(table.update(Self.path, from: plain, to: plain) == [])
        #expect(words(table.update(Self.path, from: plain, to: named)) == ["peerChanged"])
        #expect(words(table.update(Self.path, from: named, to: bonded)) == ["peerChanged", "paired"])
        #expect(table.connected.first?.isAuthorized == true)
    }

    @Test func `a request comes before its link is reported, and brings the MTU`() {
        var table = CentralTable()
        let first = table.request(from: Self.path, mtu: 50, device: nil)
        #expect(words(first.changes) == ["connected F0:F1:F2:F3:F4:F5", "mtu 50"])
        #expect(first.central.mtu == 50)
        #expect(table.request(from: Self.path, mtu: 50, device: nil).changes == [])
        #expect(words(table.request(from: Self.path, mtu: 100, device: nil).changes) == ["mtu 100"])
        #expect(table.path(of: first.central.id) == Self.path)
        // The address type is known only now.
        let device = device(isConnected: true)
        #expect(words(table.update(Self.path, from: nil, to: device)) == ["peerChanged"] || table.count == 1)
        #expect(words(table.remove(Self.path)) == ["disconnected"])
        #expect(table.remove(Self.path) == [])
        #expect(table.path(of: first.central.id) == nil)
    }

    @Test func `all links end at once, and the MTU with them`() {
        var table = CentralTable()
        _ = table.request(from: "/a", mtu: 50, device: nil)
        _ = table.request(from: "/b", mtu: nil, device: device(isConnected: true, isBonded: true))
        #expect(table.removeAll() == [Peer.ID(1), Peer.ID(2)])
        #expect(table.count == 0)
        let again = table.request(from: "/a", mtu: nil, device: nil)
        #expect(again.central.mtu == nil)
        #expect(again.central.id == Peer.ID(3))
    }

    @Test func `a bond is this device's own if it was made while the central was connected`() {
        var table = CentralTable()
        let plain = device(isConnected: true)
        let away = device(isConnected: false)
        let bonded = device(isConnected: true, isBonded: true)
        let bondedAway = device(isConnected: false, isBonded: true)
        // Another program's: bonded before it was seen, or while it was not connected.
        _ = table.update("/a", from: nil, to: bonded)
        _ = table.update("/b", from: nil, to: away)
        _ = table.update("/b", from: away, to: bondedAway)
        #expect(table.ownBonds == [])
        for path in ["/c", "/d"] {
            _ = table.update(path, from: nil, to: plain)
            _ = table.update(path, from: plain, to: bonded)
        }
        _ = table.update("/c", from: bonded, to: bondedAway)
        #expect(table.ownBonds == ["/c", "/d"])
        _ = table.update("/c", from: bondedAway, to: away)
        _ = table.remove("/d")
        #expect(table.ownBonds == [])
    }
}
