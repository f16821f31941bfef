import MynahCore
import MynahSupport
import MynahTestSupport
import Testing

@Suite struct AdvertisementDataTests {
    private func data(_ hex: String) throws -> AdvertisementData {
        AdvertisementData(try #require(Hex.decode(hex)))
    }

    @Test func `flags, name, services, power, appearance and foreign data are taken apart`() throws {
        let data = try data("020106 03030D18 06094D796E6168 020AF4 03194103 05FF5900AABB 04160F1864")
        #expect(data.flags == 0x06)
        #expect(data.localName == "Mynah")
        #expect(data.isNameComplete)
        #expect(data.serviceUUIDs == ["180D"])
        #expect(data.txPower == -12)
        #expect(data.appearance == 0x0341)
        #expect(data.manufacturerData == [.init(company: 0x0059, data: [0xAA, 0xBB])])
        #expect(data.serviceData == [.init(uuid: "180F", data: [0x64])])
        #expect(data.structures.count == 7)
    }

    @Test func `services of all widths are found, complete or not, and none twice`() throws {
        let data = try data("05020D180F18 0503 0F180A18 0504 78563412 1107000102030405060708090A0B0C0D0E0F")
        #expect(
            data.serviceUUIDs == ["180D", "180F", "180A", "12345678", "0F0E0D0C-0B0A-0908-0706-050403020100"])
    }

    @Test func `a scan response adds to what was advertised, and a complete name beats a shortened one`()
        throws
    {
        var data = try data("020106 03084D79")
        #expect(data.localName == "My")
        #expect(!data.isNameComplete)
        data.add(try #require(Hex.decode("06094D796E6168 03084D79")))
        #expect(data.localName == "Mynah")
    }

    @Test func `an iPhone's overflow area is known, and may have a service`() throws {
        var data = AdvertisementData()
        data.add([OverflowArea(["180D"]).structure].bytes)
        #expect(data.overflowArea == OverflowArea(["180D"]))
        #expect(data.mayHave("180D"))
        #expect(!data.mayHave("180F"))
    }

    @Test(arguments: ["02", "01FF", "02FF59", "0116", "0316", "0403 0D18 0F", "0201", "010A", "00FFFF"])
    func `truncated fields are left out`(hex: String) throws {
        let data = try data(hex)
        #expect(data.manufacturerData.isEmpty)
        #expect(data.serviceData.isEmpty)
        #expect(data.serviceUUIDs.count <= 1)
        #expect(data.flags == nil)
        #expect(data.txPower == nil)
    }

    @Test func `no advertising data traps`() {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<20_000 {
            let bytes = random.bytes(upTo: 64)
            #expect(AdvertisementData(bytes).structures.count <= bytes.count)
        }
    }
}
