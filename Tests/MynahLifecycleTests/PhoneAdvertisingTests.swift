import MynahCore
import MynahLifecycle
import MynahSupport
import Testing

@Suite struct PhoneAdvertisingTests {
    private static let own: BluetoothUUID = "428132AF-4746-42D3-801E-4572D65BFD9B"
    private static let ownOnAir = "9BFD5BD672451E80D3424647AF328142"
    /// The mask of one UUID, behind `14 FF 4C 00 01`.
    private static let fd64 = "14FF4C000100000000000000000000080000000000"

    private static func compose(_ app: AppAdvertisement, iOS: Int = 17) -> PhoneAdvertisement {
        PhoneAdvertising(iOS: iOS).compose([app])
    }

    // MARK: Captures

    @Test func `one 16-bit UUID and a short name, as captured`() {
        let air = Self.compose(AppAdvertisement(localName: "Fred", serviceUUIDs: ["C007"]))
        #expect(air.data == "02011A" + "030307C0" + "050946726564")
        #expect(air.scanResponse == "")
        #expect(air.omitted == [[]])
    }

    @Test func `one 128-bit UUID comes before the name, as captured`() {
        let air = Self.compose(AppAdvertisement(localName: "Mynah", serviceUUIDs: [Self.own]))
        #expect(air.data == "02011A" + "1107" + Self.ownOnAir + "06094D796E6168")
        #expect(air.scanResponse == "")
    }

    @Test func `a 16-bit UUID that is written in 128 bits goes out in 128, as captured`() {
        let air = Self.compose(AppAdvertisement(serviceUUIDs: ["00003AC5-0000-1000-8000-00805F9B34FB"]))
        #expect(air.data == "02011A" + "1107" + "FB349B5F8000008000100000C53A0000")
    }

    @Test func `later phones put the TX power after the Flags, as captured`() {
        let air = PhoneAdvertising(txPower: 12).compose([AppAdvertisement(serviceUUIDs: [Self.own])])
        #expect(air.data == "02011A" + "020A0C" + "1107" + Self.ownOnAir)
    }

    @Test func `of five 128-bit UUIDs one is in an incomplete list and four overflow, as captured`() {
        let uuids = (1...5).compactMap { BluetoothUUID("0000000\($0)-AAAA-BBBB-CCCC-1234567890AB") }
        let air = Self.compose(AppAdvertisement(localName: "uynguyen", serviceUUIDs: uuids))
        #expect(
            air.data == "02011A" + "1106AB9078563412CCCCBBBBAAAA01000000" + "0909" + "75796E677579656E")
        #expect(air.data.count == 62)
        #expect(air.scanResponse == Hex.encode([OverflowArea(uuids.dropFirst()).structure].bytes))
        #expect(air.omitted.first?.map(\.item) == (1...4).map { "serviceUUIDs[\($0)]" })
    }

    @Test func `a name of nine letters is shortened to eight beside a 128-bit UUID, as captured`() {
        let two = Self.compose(
            AppAdvertisement(
                localName: "LightBlue", serviceUUIDs: [Self.own, "2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6"]))
        #expect(two.data == "02011A" + "1106" + Self.ownOnAir + "0908" + "4C69676874426C75")
        #expect(two.scanResponse == Self.fd64)
        #expect(
            two.omitted.first?.first { $0.item == "localName" }?.reason
                == "it is shortened to \"LightBlu\": 9 bytes do not fit into 8")
    }

    @Test(arguments: [7, 10, 11])
    func `in the background up to iOS 11 the mask is in the advert, as captured`(iOS: Int) {
        let app = AppAdvertisement(
            localName: "Beacon", serviceUUIDs: ["2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6"], mode: .background)
        let air = Self.compose(app, iOS: iOS)
        #expect(air.data == "02011A" + Self.fd64)
        #expect(air.scanResponse == "")
    }

    @Test(arguments: [12, 17, 26])
    func `in the background from iOS 12 on the mask is in the scan response, as reported`(iOS: Int) {
        let air = Self.compose(AppAdvertisement(serviceUUIDs: ["FD64"], mode: .background), iOS: iOS)
        #expect(air.data == "02011A")
        #expect(air.scanResponse == Self.fd64)
    }

    @Test func `the TX power comes after the Flags in the background too, as captured`() {
        var phone = PhoneAdvertising(txPower: 12)
        phone.placement = .advertisingData
        let air = phone.compose([AppAdvertisement(serviceUUIDs: ["FD64"], mode: .background)])
        #expect(air.data == "02011A" + "020A0C" + Self.fd64)
    }

    @Test(arguments: [
        ("071EA3DD89E0", "0BFF4C001006071EA3DD89E0"), ("0C1E4FDE4DF7", "0BFF4C0010060C1E4FDE4DF7"),
        ("031C8BA89D", "0AFF4C001005031C8BA89D"),
    ])
    func `in the background Nearby Info is beside the overflow area, as captured`(
        bytes: String, structure: String
    ) {
        var phone = PhoneAdvertising(txPower: 12)
        phone.nearbyInfo = Hex.decode(bytes)
        for placement in OverflowPlacement.allCases {
            phone.placement = placement
            let air = phone.compose([AppAdvertisement(serviceUUIDs: [Self.own], mode: .background)])
            #expect(air.data == "02011A" + "020A0C" + structure)
            #expect(air.scanResponse == "14FF4C000100000000000000000000200000000000")
        }
        let air = phone.compose([AppAdvertisement(serviceUUIDs: [Self.own])])
        #expect(air.data == "02011A" + "020A0C" + "1107" + Self.ownOnAir)
        #expect(air.omitted.first?.map(\.item) == ["phone.nearbyInfo"])
    }

    @Test func `two apps in the background share one mask`() {
        let air = PhoneAdvertising().compose([
            AppAdvertisement(serviceUUIDs: ["C007", "C008"], mode: .background),
            AppAdvertisement(serviceUUIDs: ["1001"], mode: .background),
        ])
        #expect(air.scanResponse == "14FF4C0001000000001000000A0000000000000000")
        #expect(air.overflow == OverflowArea(["C007", "C008", "1001"]))
        #expect(
            air.omitted.map { $0.map(\.item) } == [
                ["serviceUUIDs[0]", "serviceUUIDs[1]"], ["serviceUUIDs[0]"],
            ])
    }

    // MARK: Rules

    @Test func `an app in the foreground and one in the background share the advert at the full rate`() {
        let phone = PhoneAdvertising()
        let air = phone.compose([
            AppAdvertisement(localName: "Hidden", serviceUUIDs: ["FD64"], mode: .background),
            AppAdvertisement(localName: "Fred", serviceUUIDs: ["C007"]),
        ])
        #expect(air.data == "02011A" + "030307C0" + "050946726564")
        #expect(air.scanResponse == Self.fd64)
        #expect(air.interval == phone.foregroundInterval...phone.foregroundInterval)
        #expect(air.omitted.map { $0.map(\.item) } == [["localName", "serviceUUIDs[0]"], []])
    }

    @Test func `every UUID of an app in the background is in the mask, another app's in clear or not`() {
        let air = PhoneAdvertising().compose([
            AppAdvertisement(serviceUUIDs: ["FD64"]),
            AppAdvertisement(serviceUUIDs: ["FD64"], mode: .background),
        ])
        #expect(air.data == "02011A" + "030364FD")
        #expect(air.scanResponse == Self.fd64)
        #expect(air.omitted == [[], []])
    }

    @Test func `the rate is reduced when every app that advertises is in the background`() {
        let air = PhoneAdvertising().compose([
            AppAdvertisement(serviceUUIDs: ["FD64"], mode: .background),
            AppAdvertisement(localName: "Off", serviceUUIDs: ["C007"], mode: .off),
        ])
        #expect(air.interval == .microseconds(181_250)...(.microseconds(187_500)))
        #expect(air.advertisement?.interval == .microseconds(181_250))
        #expect(air.advertisement?.isConnectable == true)
        #expect(air.advertisement?.exact == air.bytes)
        #expect(air.scanResponse == Self.fd64)
        #expect(air.omitted.last == [])
    }

    @Test func `of two names the first app's is on the air, and the other is named`() {
        let phone = PhoneAdvertising()
        let air = phone.compose([
            AppAdvertisement(serviceUUIDs: ["C007"]),
            AppAdvertisement(localName: "One", serviceUUIDs: ["C008"]),
            AppAdvertisement(localName: "Two", serviceUUIDs: []),
        ])
        #expect(air.data == "02011A" + "050307C008C0" + "04094F6E65")
        #expect(air.omitted.map { $0.map(\.item) } == [[], [], ["localName"]])
        let same = AppAdvertisement(localName: "One", serviceUUIDs: [])
        #expect(phone.compose([same, same]).omitted == [[], []])
    }

    @Test func `lists of three widths stand in the order in which they begin`() {
        let air = Self.compose(AppAdvertisement(serviceUUIDs: ["12345678", "180D", "9ABCDEF0", "180F"]))
        #expect(air.data == "02011A" + "090578563412F0DEBC9A" + "05030D180F18")
    }

    @Test func `a later UUID that fits is taken although an earlier one did not`() {
        let long: BluetoothUUID = "2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6"
        let air = Self.compose(AppAdvertisement(serviceUUIDs: [Self.own, long, "180D"]))
        #expect(air.data == "02011A" + "1106" + Self.ownOnAir + "03030D18")
        #expect(air.omitted.first?.map(\.item) == ["serviceUUIDs[1]"])
    }

    @Test func `a UUID that is given twice goes out once`() {
        let air = Self.compose(AppAdvertisement(serviceUUIDs: ["180D", "180F", "180D"]))
        #expect(air.data == "02011A" + "05030D180F18")
        #expect(air.omitted == [[]])
    }

    @Test func `a name that the UUIDs leave no room for goes to the scan response`() {
        let uuids = (0..<13).map { BluetoothUUID(UInt16(0xC000 + $0)) }
        let air = Self.compose(AppAdvertisement(localName: "Overflown", serviceUUIDs: uuids + ["FD64"]))
        #expect(air.data.count == 62)
        #expect(air.data.hasPrefix("02011A" + "1B02"))
        #expect(air.scanResponse == "09084F766572666C6F77" + Self.fd64)
        let whole = Self.compose(AppAdvertisement(localName: "Overflow", serviceUUIDs: uuids + ["FD64"]))
        #expect(whole.scanResponse == "09094F766572666C6F77" + Self.fd64)
    }

    @Test(arguments: [
        (String(repeating: "n", count: 26), "1B09", 0), (String(repeating: "n", count: 27), "1B08", 1),
        ("äöüäöüäöüäöüä", "1B09", 0), ("äöüäöüäöüäöüäa", "1B08", 1), ("🐦🐦🐦🐦🐦🐦🐦", "1908", 1),
    ])
    func `a name alone has 26 bytes and is cut between characters`(name: String, head: String, omitted: Int) {
        let air = Self.compose(AppAdvertisement(localName: name, serviceUUIDs: []))
        #expect(air.data.hasPrefix("02011A" + head))
        #expect(air.scanResponse == "")
        #expect(air.omitted.first?.count == omitted)
        let text = air.bytes?.data.last.map { String(decoding: $0.data, as: UTF8.self) } ?? ""
        #expect(name.hasPrefix(text))
    }

    @Test func `a name whose first character does not fit is named`() {
        let air = Self.compose(
            AppAdvertisement(
                localName: "👩‍👩‍👧‍👦", serviceUUIDs: (0..<12).map { BluetoothUUID(UInt16(0xC000 + $0)) }))
        // Of the family only its first person and what joins it fit into eight bytes.
        #expect(air.scanResponse == "0808F09F91A9E2808D")
        #expect(air.omitted.first?.map(\.item) == ["localName"])
    }

    @Test func `without UUIDs nothing is on the air in the background`() {
        let air = Self.compose(AppAdvertisement(localName: "Fred", serviceUUIDs: [], mode: .background))
        #expect(air.bytes == nil)
        #expect(air.advertisement == nil)
        #expect(air.omitted.first?.map(\.item) == ["localName", "serviceUUIDs"])
    }

    @Test func `nobody advertising is silence`() {
        #expect(PhoneAdvertising().compose([]).bytes == nil)
        let off = AppAdvertisement(localName: "Off", serviceUUIDs: ["180D"], mode: .off)
        #expect(PhoneAdvertising().compose([off]).advertisement == nil)
    }

    @Test func `an empty advertisement in the foreground is the Flags alone`() {
        #expect(Self.compose(AppAdvertisement(localName: "", serviceUUIDs: [])).data == "02011A")
    }

    @Test func `a service in the overflow area is reported with the devices that see it`() {
        let reasons = [
            Self.compose(AppAdvertisement(serviceUUIDs: [Self.own, "2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6"])),
            Self.compose(AppAdvertisement(serviceUUIDs: ["FD64"], mode: .background)),
        ].compactMap { $0.omitted.first?.first?.reason }
        #expect(reasons.count == 2)
        #expect(reasons.allSatisfy { $0.contains("only iOS devices that scan for it find it") })
    }
}

extension PhoneAdvertisement {
    fileprivate var data: String { Hex.encode(bytes?.data.bytes ?? []) }
    fileprivate var scanResponse: String { Hex.encode(bytes?.scanResponse.bytes ?? []) }
}
