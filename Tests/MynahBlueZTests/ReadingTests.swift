import MynahBlueZStandIn
import MynahCore
import Testing

@testable import MynahBlueZ
@testable import MynahDBus

@Suite(.timeLimit(.minutes(15))) struct ReadingTests {
    private func options(_ key: String, _ value: DBusValue) throws -> RequestOptions {
        let message = try DBusMessage.methodCall(
            to: nil, path: "/", interface: "org.bluez.GattCharacteristic1", member: "ReadValue"
        ) { body in
            body.appendOptions { $0.appendOption(key, value) }
        }
        var reader = message.reader()
        return try RequestOptions(&reader)
    }

    @Test func `the option device is read`() throws {
        #expect(try options("device", .objectPath("/org/bluez/hci0/dev_1")).device == "/org/bluez/hci0/dev_1")
    }

    @Test func `the option offset is read`() throws {
        #expect(try options("offset", .uint16(300)).offset == 300)
    }

    @Test func `the option mtu is read`() throws {
        #expect(try options("mtu", .uint16(517)).mtu == 517)
    }

    @Test func `an MTU that no link can have is the least that one has`() throws {
        #expect(try options("mtu", .uint16(2)).mtu == 23)
    }

    @Test func `the option prepare-authorize is read`() throws {
        #expect(try options("prepare-authorize", true).preparesAuthorization)
    }

    @Test(arguments: ["link", "type", "Device", "mtu "])
    func `another key is passed over`(key: String) throws {
        #expect(try options(key, "LE") == RequestOptions())
    }

    @Test(arguments: ["device", "offset", "mtu", "prepare-authorize"])
    func `a key with another type is passed over`(key: String) throws {
        #expect(try options(key, .int32(1)) == RequestOptions())
    }

    @Test func `objects come, change and go`() {
        var objects = BusObjects()
        let adapter: DBusValue = .dictionary(
            key: "s", value: "a{sv}",
            [
                .init(
                    "org.bluez.Adapter1",
                    .options(["Address": "00:AA:01:00:00:42", "Powered": false, "Alias": "a", "Name": "a"]))
            ])
        objects.add("/org/bluez/hci0", adapter)
        #expect(objects.adapters["/org/bluez/hci0"]?.address == "00:AA:01:00:00:42")
        #expect(objects.adapters["/org/bluez/hci0"]?.isComplete == false)
        let managers: DBusValue = .dictionary(
            key: "s", value: "a{sv}",
            [
                .init("org.bluez.GattManager1", .options([])),
                .init("org.bluez.LEAdvertisingManager1", .options(["SupportedFeatures": .strings([])])),
            ])
        objects.add("/org/bluez/hci0", managers)
        #expect(objects.adapters["/org/bluez/hci0"]?.isComplete == true)
        #expect(objects.adapters["/org/bluez/hci0"]?.tellsAdvertisingFeatures == true)
        objects.change("/org/bluez/hci0", "org.bluez.Adapter1", .options(["Powered": true]))
        #expect(objects.adapters["/org/bluez/hci0"]?.isPowered == true)
        objects.remove("/org/bluez/hci0", ["org.bluez.GattManager1"])
        #expect(objects.adapters["/org/bluez/hci0"]?.isComplete == false)
        objects.remove("/org/bluez/hci0", ["org.bluez.Adapter1"])
        #expect(objects.adapters.isEmpty)
    }

    @Test(arguments: ["Paired", "Bonded"])
    func `either of Paired and Bonded makes a central paired`(property: String) {
        var objects = BusObjects()
        objects.add(
            "/d",
            .dictionary(key: "s", value: "a{sv}", [.init("org.bluez.Device1", .options(["Connected": true]))])
        )
        #expect(objects.devices["/d"]?.isPaired == false)
        objects.change("/d", "org.bluez.Device1", .options([(property, DBusValue.bool(true))]))
        #expect(objects.devices["/d"]?.isPaired == true)
    }

    @Test func `a property of a wrong type, or of nobody, does no harm`() {
        var objects = BusObjects()
        objects.change("/nobody", "org.bluez.Device1", .options(["Connected": true]))
        objects.add(
            "/d",
            .dictionary(key: "s", value: "a{sv}", [.init("org.bluez.Device1", .options(["Name": .int32(1)]))])
        )
        objects.change("/d", "org.bluez.Device1", "nonsense")
        #expect(objects.devices.keys.sorted() == ["/d"])
        #expect(objects.devices["/d"]?.name == nil)
    }

    @Test func `a device's path tells its address`() {
        #expect(
            BusObjects.Device(path: "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF").address == "AA:BB:CC:DD:EE:FF")
        #expect(BusObjects.Device(path: "").address == "")
    }

    @Test func `the handles that are foretold are those that the daemon gives`() async throws {
        let rig = try await Rig()
        let descriptors = [DescriptorDefinition(uuid: "2901"), DescriptorDefinition(uuid: "2904")]
        let included = ServiceDefinition(uuid: "180F")
        let service = ServiceDefinition(
            uuid: "180D", includes: [included.key],
            characteristics: [
                CharacteristicDefinition(uuid: "2A37", properties: [.read], descriptors: descriptors),
                CharacteristicDefinition(uuid: "2A38", properties: [.notify, .indicate]),
                CharacteristicDefinition(
                    uuid: "2A39", properties: [.write, .reliableWrite, .notify],
                    descriptors: [DescriptorDefinition(uuid: "2901")]),
                CharacteristicDefinition(uuid: "2A3A", properties: [.read, .extendedProperties]),
            ])
        let published = try await rig.radio.publish([included, service])
        let found = await rig.standIn.services()
        #expect(
            found.map(\.handle) == [
                published.handles[included.key]?.rawValue, published.handles[service.key]?.rawValue,
            ])
        let characteristics = try #require(found.last?.characteristics)
        #expect(
            characteristics.map(\.handle)
                == service.characteristics.map { published.handles[$0.key]?.rawValue })
        #expect(
            characteristics.flatMap(\.descriptors).map(\.handle)
                == service.characteristics.flatMap(\.descriptors).map { published.handles[$0.key]?.rawValue })
        await rig.radio.stop()
    }
}
