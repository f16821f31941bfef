import MynahCore
import MynahEmulator
import MynahProfiles
import Testing

@Suite struct PhoneServiceTests {
    @Test func `a phone's services need an encrypted link, but not its model and its manufacturer`() throws {
        let names = Profile.PhoneService.allCases.map(\.rawValue).joined(separator: ", ")
        let profile = try ProfileLoader.load(
            text: "mynah: 1\nname: P\napp: {}\nphone: {services: [\(names)]}\n", file: "p.yaml")
        let device = try #require(EmulatedDevice(profile.phone, label: "iPhone", clockStart: 0))
        for service in device.services {
            for characteristic in service.characteristics {
                let needed: SecurityRequirement = service.uuid == "180A" ? .open : .encrypted
                let permissions = characteristic.permissions
                let all = [permissions.read, permissions.write, permissions.notify]
                #expect(all == [needed, needed, needed], "\(characteristic.uuid)")
            }
        }
        #expect(device.services.count == 5)
    }
}
