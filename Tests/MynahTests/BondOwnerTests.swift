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
        #expect(directory.bondPath(of: .accessory("Lock"), at: 1) == temporary.path + "/bonds+Lock.json")
        #expect(try temporary.read("bonds+Lock.json") == "second")
        _ = directory.bondPath(of: .accessory("Lock"), at: 0)
        #expect(try temporary.read("bonds+Lock.json") == "second")
        #expect(directory.bondPath(of: .phone, at: 0) == temporary.path + "/bonds-phone.json")
        #expect(try temporary.read("bonds-phone.json") == "first")
        _ = directory.bondPath(of: .connect, at: 0)
        #expect(temporary.files.sorted() == ["bonds+Lock.json", "bonds-phone.json", "lock"])
    }
}
