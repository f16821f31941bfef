import MynahCore
import Testing

@Suite struct AttributeNameTests {
    /// A heart-rate service, two battery services of which the second has two levels, and descriptors.
    private static let tree: AttributeTree = {
        let level = { (handle: AttributeHandle) in AttributeTree.Characteristic(uuid: "2A19", handle: handle)
        }
        return AttributeTree([
            .init(
                uuid: "180D",
                characteristics: [
                    .init(
                        uuid: "2A37", handle: 12,
                        descriptors: [.init(uuid: "2902", handle: 13), .init(uuid: "2901", handle: 14)])
                ]),
            .init(uuid: "180F", characteristics: [level(17)]),
            .init(uuid: "0000180F-0000-1000-8000-00805F9B34FB", characteristics: [level(20), level(22)]),
            .init(
                uuid: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E",
                characteristics: [
                    .init(
                        uuid: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E", handle: 25,
                        descriptors: [
                            .init(uuid: "2902", handle: 26), .init(uuid: "2904", handle: 27),
                            .init(uuid: "2904", handle: 28),
                        ])
                ]),
        ])
    }()

    private static func handle(_ name: String) throws(AttributeName.Problem) -> AttributeHandle? {
        let position = try AttributeName(parsing: name).resolve(in: tree)
        let characteristic = tree.services[position.service].characteristics[position.characteristic ?? -1]
        return position.descriptor.map { characteristic.descriptors[$0].handle } ?? characteristic.handle
    }

    @Test(
        arguments: [
            ("2A37", 12), ("heart-rate-measurement", 12), ("Heart Rate Measurement", 12), ("180D/2A37", 12),
            ("heart-rate/2a37~1", 12), ("0x2A37", 12), ("@12", 12), ("@28", 28),
            ("180F~1/2A19", 17), ("180F~2/2A19~1", 20), ("180F~2/2A19~2", 22),
            ("battery~2/battery-level~2", 22),
            // Without a service, ~N counts on the whole device; after one that is not numbered, in all of its
            // UUID.
            ("2A19~1", 17), ("2A19~3", 22), ("180F/2A19~2", 20),
            ("2901", 14), ("2A37/2901", 14), ("180D/2901", 14), ("180D/2A37/2902", 13), ("2902~2", 26),
            ("nordic-uart/nordic-uart-tx/2904~2", 28), ("2904~1", 27),
            ("00002A37-0000-1000-8000-00805F9B34FB", 12),
        ] as [(String, AttributeHandle)])
    func `a name leads to one attribute`(name: String, handle: AttributeHandle) throws {
        #expect(try Self.handle(name) == handle)
    }

    @Test(arguments: [
        (
            "2A19",
            """
            the device has 3 attributes called 2A19: name one of 180F~1/2A19 (@17), 180F~2/2A19~1 \
            (@20), 180F~2/2A19~2 (@22)
            """
        ),
        (
            "180F~2/battery-level",
            """
            the device has 2 attributes called 180F~2/battery-level: name one of 180F~2/2A19~1 (@20), \
            180F~2/2A19~2 (@22)
            """
        ),
        (
            "2902",
            """
            the device has 2 attributes called 2902: name one of 180D/2A37/2902 (@13), \
            6E400001-B5A3-F393-E0A9-E50E24DCCA9E/6E400003-B5A3-F393-E0A9-E50E24DCCA9E/2902 (@26)
            """
        ),
        (
            "180F~3/2A19",
            """
            the device has no 180F~3/2A19; it has 180F~1/2A19 (@17), 180F~2/2A19~1 (@20), 180F~2/2A19~2 \
            (@22)
            """
        ),
        ("2A37~2", "the device has no 2A37~2; it has 180D/2A37 (@12)"),
        ("2A38", "the device has no 2A38"), ("180D/2A19", "the device has no 180D/2A19"),
        ("2A37/2A37", "the device has no 2A37/2A37"), ("@11", "the device has no @11"),
        ("180D", "the device has no 180D"),
    ])
    func `a name that leads to none or to several says what there is`(name: String, message: String) {
        let problem = #expect(throws: AttributeName.Problem.self) { try Self.handle(name) }
        #expect(problem?.message == message)
    }

    @Test(arguments: [
        ("@0", "@0 is not a handle; a handle is written as @12"),
        (
            "@65536",
            "@65536 is not a handle; a handle is written as @12"
        ),
        ("batery-level", "\"batery-level\" is neither a UUID nor a name; did you mean \"battery-level\"?"),
        ("2A3", "\"2A3\" is neither a UUID nor a name"), ("180D/", "\"\" is neither a UUID nor a name"),
        ("", "\"\" is neither a UUID nor a name"), ("~1", "\"\" is neither a UUID nor a name"),
        ("2A19~0", "\"2A19~0\" needs a number of at least 1 after ~, as in 180F~2"),
        ("2A19~", "\"2A19~\" needs a number of at least 1 after ~, as in 180F~2"),
        ("2A19~x", "\"2A19~x\" needs a number of at least 1 after ~, as in 180F~2"),
        ("2A19~+1", "\"2A19~+1\" needs a number of at least 1 after ~, as in 180F~2"),
        ("2A19~01", "\"2A19~01\" needs a number of at least 1 after ~, as in 180F~2"),
        ("2A19~123456", "\"2A19~123456\" needs a number of at least 1 after ~, as in 180F~2"),
        ("180D/2A37/2902/1", "\"1\" is neither a UUID nor a name"),
        (
            "180D/2A37/2902/2902",
            "180D/2A37/2902/2902 has more parts than SERVICE/CHARACTERISTIC/DESCRIPTOR"
        ),
    ])
    func `an invalid name says why`(name: String, message: String) {
        let problem = #expect(throws: AttributeName.Problem.self) { try AttributeName(parsing: name) }
        #expect(problem?.message == message)
    }

    @Test func `the path and the short name of each attribute lead to it, in UUIDs and in the SIG's names`()
        throws
    {
        let tree = Self.tree
        let named: (BluetoothUUID) -> String = { AssignedNumbers.name(of: $0) ?? $0.shortest.description }
        var paths: Set<String> = []
        for (service, each) in tree.services.enumerated() {
            for (index, characteristic) in each.characteristics.enumerated() {
                let position = AttributeTree.Position(service: service, characteristic: index)
                let descriptors = characteristic.descriptors.indices.map {
                    AttributeTree.Position(service: service, characteristic: index, descriptor: $0)
                }
                for position in [position] + descriptors {
                    for name in [
                        tree.path(of: position), tree.path(of: position, text: named),
                        tree.shortName(of: position),
                        tree.shortName(of: position, text: named),
                    ] {
                        #expect(try AttributeName(parsing: name).resolve(in: tree) == position)
                    }
                    #expect(paths.insert(tree.path(of: position)).inserted)
                }
            }
        }
        #expect(paths.count == 10)
    }

    @Test func `~N is written only where a sibling has the same UUID`() {
        let tree = Self.tree
        #expect((0..<4).map { tree.path(of: .init(service: $0)) }.prefix(3) == ["180D", "180F~1", "180F~2"])
        #expect(tree.path(of: .init(service: 1, characteristic: 0)) == "180F~1/2A19")
        #expect(tree.path(of: .init(service: 0, characteristic: 0, descriptor: 1)) == "180D/2A37/2901")
        #expect(tree.shortName(of: .init(service: 0, characteristic: 0)) == "2A37")
        #expect(tree.shortName(of: .init(service: 2, characteristic: 1)) == "180F~2/2A19~2")
    }

    @Test func `no name reads as a UUID`() {
        let names =
            AssignedNumbers.serviceNames + AssignedNumbers.characteristicNames
            + AssignedNumbers.descriptorNames
        #expect(names.count > 500)
        #expect(names.filter { BluetoothUUID($0) != nil } == [])
    }

    @Test func `names in one index are those in the tree`() throws {
        let index = AttributeIndex(Self.tree)
        for name in ["2A37", "heart-rate/2A37", "180F~2/2A19~2", "2A19~1", "2904~2", "@28", "180D/2A37/2902"]
        {
            let parsed = try AttributeName(parsing: name)
            #expect(try parsed.resolve(in: index) == parsed.resolve(in: Self.tree))
        }
    }
}
