import MynahCore
import MynahRun
import Testing

@Suite struct DeviceSearchTests {
    private func address(_ number: UInt8) throws -> DeviceAddress {
        try #require(DeviceAddress(littleEndian: [number, 0, 0, 0, 0, 0xC0], kind: .random))
    }

    /// A search that has heard devices with these names, the first at the address that ends in 01.
    private func search(_ text: String, _ names: [String], isConnectable: Bool = true) throws -> DeviceSearch
    {
        var search = DeviceSearch(text)
        for (index, name) in names.enumerated() {
            let data = [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8)
            search.add(
                Sighting(
                    ScanReport(address: try address(UInt8(index + 1)), kind: .connectable, data: data),
                    advertisement: AdvertisementData(data), data: data, scanResponse: [],
                    isConnectable: isConnectable))
        }
        return search
    }

    @Test func `a device is found by its address, its name, or a prefix of either`() throws {
        let names = ["Strap", "Strap 2", "Lamp"]
        #expect(try search("c0:00:00:00:00:02", names).outcome == .certain(try address(2)))
        // A whole name is more than the beginning of another.
        #expect(try search("strap", names).outcome == .likely(try address(1)))
        #expect(try search("la", names).outcome == .likely(try address(3)))
        #expect(try search("C0:00:00:00:00:03", names).outcome == .certain(try address(3)))
        #expect(
            try search("str", names).outcome
                == .several(["C0:00:00:00:00:01 (Strap)", "C0:00:00:00:00:02 (Strap 2)"]))
        #expect(try search("chair", names).outcome == .nothing)
        #expect(try search("chair", names).heard.count == 3)
    }

    @Test func `a bonded device is found by its identity address and by its private one`() throws {
        var report = ScanReport(address: try address(1), kind: .connectable, data: [])
        report.resolvedAddress = DeviceAddress("4A:00:00:00:00:07", kind: .random)
        for text in ["c0:00:00:00:00:01", "4A:00:00:00:00:07"] {
            var search = DeviceSearch(text)
            search.add(
                Sighting(
                    report, advertisement: AdvertisementData([]), data: [], scanResponse: [],
                    isConnectable: true))
            #expect(search.outcome == .certain(try address(1)))
        }
    }

    @Test func `a device that takes no connection is not found`() throws {
        var search = try search("Strap", ["Strap"], isConnectable: false)
        #expect(search.outcome == .nothing)
        #expect(search.heard.isEmpty)
        guard case .failed(let error) = search.advance(.overdue) else {
            Issue.record("the search goes on")
            return
        }
        #expect(error.message == "\"Strap\" was heard, but is not connectable: C0:00:00:00:00:01 (Strap)")
    }

    @Test func `names are listed so that a terminal shows them as text`() throws {
        #expect(
            try DeviceSearch.list([address(1): "e\u{1B}vil", address(2): ""]) == [
                "C0:00:00:00:00:01 (e\u{FFFD}vil)", "C0:00:00:00:00:02",
            ])
    }

    // MARK: - Steps

    private func step(_ number: UInt8, _ name: String) throws -> DeviceSearch.Step {
        let data = [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8)
        return .heard(
            Sighting(
                ScanReport(address: try address(number), kind: .connectable, data: data),
                advertisement: AdvertisementData(data), data: data, scanResponse: [], isConnectable: true))
    }

    /// The actions of a search after these steps, in words.
    private func play(_ text: String, _ steps: [DeviceSearch.Step]) -> [String] {
        var search = DeviceSearch(text)
        return steps.map { step in
            switch search.advance(step) {
            case .wait: "wait"
            case .settle: "settle"
            case .found(let address): "found \(address)"
            case .failed(let error): "\(error)"
            }
        }
    }

    @Test func `an address ends a search at once, and a name after others of the name had their time`() throws
    {
        let (strap, lamp) = (try step(1, "Strap"), try step(2, "Lamp"))
        #expect(play("c0:00:00:00:00:01", [lamp, strap]) == ["wait", "found C0:00:00:00:00:01"])
        #expect(
            play("strap", [lamp, strap, lamp, strap, .settled])
                == ["wait", "settle", "wait", "wait", "found C0:00:00:00:00:01"])
        // The limit of the search may come first.
        #expect(play("strap", [strap, .overdue]) == ["settle", "found C0:00:00:00:00:01"])
    }

    @Test func `a search that fails names the devices that were heard`() throws {
        let (strap, other) = (try step(1, "Strap"), try step(2, "Strap"))
        #expect(
            play("Strap", [strap, other, .settled]).last
                == "\"Strap\" fits 2 devices: C0:00:00:00:00:01 (Strap), C0:00:00:00:00:02 (Strap); "
                + "use an address"
        )
        #expect(
            play("no\u{1B}body", [strap, .overdue]).last
                == "no device \"no\u{FFFD}body\" was heard; these were heard: C0:00:00:00:00:01 (Strap)")
        #expect(
            play("nobody", [.overdue])
                == [
                    "no device \"nobody\" was heard; no other device was heard either: "
                        + "check that it advertises, and --radio"
                ])
    }
}
