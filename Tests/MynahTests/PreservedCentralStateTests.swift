import MynahCore
import MynahLifecycle
import MynahSupport
import MynahTestSupport
import Testing

@testable import Mynah

@Suite struct PreservedCentralStateTests {
    private static let name = PreservedName(app: "Lock app", restoreIdentifier: "lock", role: .central)

    /// A state with something of everything.
    private static var full: PreservedCentralState {
        var known = KnownPeripherals(seed: 1)
        var device = DiscoveredService(RemoteService(uuid: "180D", handles: 1...9))
        device.includedServices = [RemoteService(uuid: "180F", isPrimary: false, handles: 10...12)]
        var rate = DiscoveredCharacteristic(
            RemoteCharacteristic(
                uuid: "2A37", properties: [.notify, .read, .reliableWrite], declaration: 2, handle: 3,
                end: 4),
            of: "180D")
        rate.descriptors = [RemoteDescriptor(uuid: GATT.clientConfiguration, handle: 4)]
        rate.delivery = .indication
        let other = DiscoveredCharacteristic(
            RemoteCharacteristic(
                uuid: "6D796E61-0201-4C61-8000-6C6162000000", properties: [], declaration: 5, handle: 6,
                end: 6),
            of: "180D")
        device.characteristics = [rate, other]
        var options = ConnectOptions()
        options.autoReconnect = true
        options.notifyOnNotification = true
        let address = DeviceAddress(value: 7, kind: .random)
        return PreservedCentralState(
            name: name,
            scan: .init(
                services: ["180D"], options: ScanOptions(isActive: false, interval: .microseconds(10_625))),
            devices: [
                .init(
                    entry: .init(identifier: known.identifier(of: address), address: address),
                    options: options, services: [device])
            ])
    }

    @Test func `a written state is read again`() throws {
        var state = Self.full
        state.scan?.options.window = .microseconds(2500)
        let json = try JSON(parsing: Array(state.json.prettyText.utf8))
        #expect(try PreservedCentralState(json: json, of: Self.name) == state)
        let empty = PreservedCentralState(name: Self.name)
        #expect(try PreservedCentralState(json: empty.json, of: Self.name) == empty)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a damaged file is refused, or read as it says`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var state = Self.full
        state.scan?.options.window = .microseconds(2500)
        let text = Array(state.json.prettyText.utf8)
        var (refused, read) = (0, 0)
        for _ in 0..<100 {
            var damaged = text
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                let index = damaged.indices.randomElement(using: &generator) ?? 0
                damaged[index] = UInt8.random(in: 0x20...0x7E, using: &generator)
            }
            guard let json = try? JSON(parsing: damaged),
                let found = try? PreservedCentralState(json: json, of: Self.name)
            else {
                refused += 1
                continue
            }
            read += 1
            #expect(try PreservedCentralState(json: found.json, of: Self.name) == found)
        }
        #expect(refused > 0 && read > 0)
    }
}
