import MynahTestSupport
import Testing

@testable import Mynah

/// Where a state directory keeps the bonds of a device.
@Suite(.timeLimit(.minutes(1))) struct BondOwnerTests {
    @Test func `every device has a file of its own`() {
        let labels = [
            "phone", "connect", "-phone", "Lock", "lock", "Lock~2", "a+b", "a/b", "", "..", "bonds",
        ]
        let owners = [.phone, .connect] + labels.map(BondOwner.accessory)
        let names = owners.map(\.fileName)
        #expect(Set(names).count == owners.count)
        for name in names { #expect(!name.contains("/") && name.hasSuffix(".json") && name.utf8.count < 230) }
        #expect(Set(names).isDisjoint(with: (0..<9).map(BondOwner.formerFileName)))
        let long = ["a", "b"].map { BondOwner.accessory(String(repeating: "é", count: 500) + $0).fileName }
        #expect(long[0] != long[1] && long[0].utf8.count < 230)
    }

    @Test func `a file of an earlier version is taken over once, and never over another`() throws {
        let temporary = try TemporaryDirectory()
        let directory = try StateDirectory(path: temporary.path)
        try temporary.write("first", to: "bonds.json")
        try temporary.write("second", to: "bonds-2.json")
        let lock = BondOwner.accessory("Lock")
        #expect(directory.takeOverBonds(for: lock, at: 1)?.contains("for device 2 of the command") == true)
        #expect(directory.bondPath(of: lock) == temporary.path + "/bonds+Lock.json")
        #expect(temporary.files.sorted() == ["bonds+Lock.json", "bonds.json", "lock"])
        #expect(directory.takeOverBonds(for: lock, at: 0) == nil)
        #expect(directory.takeOverBonds(for: .phone, at: 0) != nil)
        #expect(temporary.files.sorted() == ["bonds+Lock.json", "bonds-phone.json", "lock"])
        #expect(directory.takeOverBonds(for: .accessory("Other"), at: 0) == nil)
    }
}
