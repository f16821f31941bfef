import MynahCore
import MynahLifecycle
import MynahTestSupport
import Testing

@Suite struct KnownPeripheralsTests {
    // MARK: Identifiers

    @Test func `an identifier is a random UUID, and the same for the same seed and address in any order`() {
        var one = KnownPeripherals(seed: 7)
        var other = KnownPeripherals(seed: 7)
        let devices = (0..<20).map { DeviceAddress.device($0) }
        let forwards = devices.map { one.identifier(of: $0) }
        let backwards = devices.reversed().map { other.identifier(of: $0) }
        #expect(forwards == backwards.reversed() && Set(forwards).count == devices.count)
        #expect(forwards == devices.map { one.identifier(of: $0) })
        for identifier in forwards {
            let digits = Array(identifier.description)
            #expect(digits.count == 36 && digits[14] == "4" && "89AB".contains(digits[19]))
            #expect(PeripheralIdentifier(identifier.description) == identifier)
        }
        var another = KnownPeripherals(seed: 8)
        #expect(Set(forwards).isDisjoint(with: devices.map { another.identifier(of: $0) }))
    }

    @Test func `the identifier of a seed is the same in every version`() {
        var known = KnownPeripherals(seed: 1)
        #expect(known.identifier(of: .device(1)).description == "C1772850-7620-4BDD-9FFF-E2F3B9626902")
    }

    @Test func `a public and a random address of the same number are two devices`() {
        var known = KnownPeripherals(seed: 1)
        let random = DeviceAddress(value: 1, kind: .random)
        let isSame =
            known.identifier(of: random) == known.identifier(of: DeviceAddress(value: 1, kind: .public))
        #expect(!isSame)
    }

    @Test(arguments: ["", "180D", "6D796E61-0200-4C61-8000-6C616200000", "6D796E6102004C6180006C6162000000"])
    func `only 32 digits with dashes are an identifier`(text: String) {
        #expect(PeripheralIdentifier(text) == nil)
    }

    // MARK: Retrieving

    @Test func `retrieving returns a device that is known, or nothing`() {
        var known = KnownPeripherals(seed: 1)
        let identifier = known.identifier(of: .device(1))
        known.name(.device(1), "Strap")
        known.name(.device(2), "Nobody")
        #expect(
            known.retrieve(identifier) == .init(identifier: identifier, address: .device(1), name: "Strap"))
        var other = KnownPeripherals(seed: 1)
        #expect(other.retrieve(identifier) == nil)
        #expect(known.count == 1)
    }

    @Test func `a device that was preserved apart is known, by the address that its identifier leads to`() {
        var known = KnownPeripherals(seed: 1)
        let moved = known.identifier(of: .device(1))
        known.moved(from: .device(1), to: .device(2))
        let revision = known.revision
        let current = known.restore(.init(identifier: moved, address: .device(1)))
        #expect(current.address == .device(2))
        #expect(known.revision == revision)

        var other = KnownPeripherals(seed: 2)
        let own = other.identifier(of: .device(3))
        #expect(other.restore(.init(identifier: moved, address: .device(2))).address == .device(2))
        #expect(other.identifier(of: .device(2)) == moved)
        // Another identifier of a device leads to it, and does not become its own.
        _ = known.restore(.init(identifier: own, address: .device(2)))
        #expect(known.retrieve(own)?.address == .device(2))
        #expect(known.identifier(of: .device(2)) == moved)
    }

    @Test func `a preserved device makes room for itself`() {
        let former = KnownPeripherals(seed: 2)
        var donor = former
        let identifier = donor.identifier(of: .device(5000))
        var known = KnownPeripherals(seed: 1)
        for device in 0..<UInt64(KnownPeripherals.limit) { _ = known.identifier(of: .device(device)) }
        _ = known.restore(.init(identifier: identifier, address: .device(5000))) { $0 == .device(0) }
        #expect(known.count == KnownPeripherals.limit)
        #expect(known.entries.contains { $0.address == .device(0) })
        #expect(!known.entries.contains { $0.address == .device(1) })
        #expect(known.entries.last?.identifier == identifier)
    }

    @Test func `a change to save makes a new revision, a change of the time of use does not`() {
        var known = KnownPeripherals(seed: 1)
        var revisions = [known.revision]
        let identifier = known.identifier(of: .device(1))
        revisions.append(known.revision)
        known.name(.device(1), "Strap")
        revisions.append(known.revision)
        known.moved(from: .device(1), to: .device(2))
        revisions.append(known.revision)
        #expect(Set(revisions).count == 4)
        known.name(.device(2), "Strap")
        _ = known.identifier(of: .device(2))
        _ = known.retrieve(identifier)
        #expect(known.revision == revisions.last)
    }

    @Test func `a device name is kept beside the advertised name`() {
        var known = KnownPeripherals(seed: 1)
        let identifier = known.identifier(of: .device(1))
        #expect(known.deviceName(of: identifier) == nil)
        known.name(.device(1), "Advertised")
        let before = known.revision
        known.setDeviceName("Strap 7", of: .device(1))
        #expect(known.revision == before + 1 && known.deviceName(of: identifier) == "Strap 7")
        known.setDeviceName("Strap 7", of: .device(1))
        known.setDeviceName("Nobody", of: .device(2))
        #expect(known.revision == before + 1 && known.entries.map(\.name) == ["Advertised"])
        let again = KnownPeripherals(seed: 2, entries: known.entries)
        #expect(again.deviceName(of: identifier) == "Strap 7")
    }

    @Test func `saved peripherals are known again, with any seed`() {
        var known = KnownPeripherals(seed: 1)
        for device in 1...3 as ClosedRange<UInt64> { _ = known.identifier(of: .device(device)) }
        let first = known.identifier(of: .device(1))
        #expect(known.entries.map(\.address) == [.device(2), .device(3), .device(1)])
        var restored = KnownPeripherals(seed: 99, entries: known.entries)
        #expect(restored.entries == known.entries)
        #expect(restored.identifier(of: .device(1)) == first)
        #expect(restored.retrieve(first)?.address == .device(1))
    }

    @Test func `damaged entries leave no identifier that leads elsewhere`() {
        var known = KnownPeripherals(seed: 1)
        let identifier = known.identifier(of: .device(1))
        var restored = KnownPeripherals(
            seed: 1,
            entries: [
                .init(identifier: identifier, address: .device(1)),
                .init(identifier: identifier, address: .device(2)),
            ])
        #expect(restored.entries.map(\.address) == [.device(2)])
        #expect(restored.identifier(of: .device(2)) == identifier)
        #expect(restored.identifier(of: .device(1)) != identifier)
    }

    // MARK: Addresses that change

    @Test func `a device that pairs keeps its identifier under its identity address`() {
        var known = KnownPeripherals(seed: 1)
        let identifier = known.identifier(of: .device(1))
        known.moved(from: .device(1), to: .device(2))
        #expect(known.identifier(of: .device(2)) == identifier)
        #expect(known.retrieve(identifier)?.address == .device(2))
        // Another device that comes to use the private address is another device.
        #expect(known.identifier(of: .device(1)) != identifier && known.count == 2)
        known.moved(from: .device(9), to: .device(2))
        known.moved(from: .device(2), to: .device(2))
        #expect(known.identifier(of: .device(2)) == identifier)
    }

    @Test func `an identity address that was known keeps its identifier, and the other leads to it too`() {
        var known = KnownPeripherals(seed: 1)
        let old = known.identifier(of: .device(2))
        let new = known.identifier(of: .device(1))
        known.moved(from: .device(1), to: .device(2))
        #expect(known.identifier(of: .device(2)) == old)
        #expect(known.retrieve(new)?.address == .device(2))
        var restored = KnownPeripherals(seed: 1, entries: known.entries)
        #expect(restored.identifier(of: .device(2)) == old)
        #expect(restored.retrieve(new)?.address == .device(2))
    }

    // MARK: The limit

    @Test func `past the limit the least recently used device is forgotten`() {
        var known = KnownPeripherals(seed: 1)
        let limit = UInt64(KnownPeripherals.limit)
        let identifiers = (0..<limit).map { known.identifier(of: .device($0)) }
        #expect(known.retrieve(identifiers[0]) != nil)
        _ = known.identifier(of: .device(1))
        _ = known.identifier(of: .device(limit))
        #expect(known.count == KnownPeripherals.limit)
        #expect(known.retrieve(identifiers[2]) == nil && known.retrieve(identifiers[3]) != nil)
        #expect(known.retrieve(identifiers[0]) != nil && known.retrieve(identifiers[1]) != nil)
        let restored = KnownPeripherals(
            seed: 1, entries: known.entries + [.init(identifier: identifiers[2], address: .device(2))])
        #expect(restored.count == KnownPeripherals.limit && restored.entries.last?.address == .device(2))
    }

    @Test func `a device that is connected or waited for is not forgotten`() {
        var known = KnownPeripherals(seed: 1)
        let first = known.identifier(of: .device(0))
        for device in 1...UInt64(2 * KnownPeripherals.limit) {
            _ = known.identifier(of: .device(device)) { $0 == .device(0) }
        }
        #expect(known.count == KnownPeripherals.limit && known.retrieve(first)?.address == .device(0))
        _ = known.identifier(of: .device(9_999)) { _ in true }
        #expect(known.count == KnownPeripherals.limit + 1)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `in any history an identifier leads to one device until it is forgotten`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var known = KnownPeripherals(seed: seed)
        /// The address that each identifier leads to.
        var model: [PeripheralIdentifier: DeviceAddress] = [:]
        for _ in 0..<3_000 {
            let (one, two) = (
                DeviceAddress.device(.random(in: 0..<400, using: &random)),
                DeviceAddress.device(.random(in: 0..<400, using: &random))
            )
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                known.moved(from: one, to: two)
                for (identifier, address) in model where address == one { model[identifier] = two }
            case 1: known = KnownPeripherals(seed: .random(in: 0..<9, using: &random), entries: known.entries)
            default:
                let identifier = known.identifier(of: one)
                #expect(model[identifier] == nil || model[identifier] == one)
                model[identifier] = one
            }
        }
        #expect(model.count <= KnownPeripherals.limit && known.count == model.count)
        for (identifier, address) in model {
            #expect(known.retrieve(identifier)?.address == address)
        }
    }
}
