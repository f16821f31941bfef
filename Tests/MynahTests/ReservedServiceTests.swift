import MynahCore
import MynahTestSupport
import Testing

@testable import Mynah

@Suite(.timeLimit(.minutes(5))) struct ReservedServiceTests {
    @Test(arguments: AppleServices.reserved)
    func `iOS refuses an app the services that it keeps for itself, and no accessory`(
        _ reserved: AppleServices.Reserved
    ) async throws {
        let rig = try await AppRig()
        let manager = try #require(rig.code.manager)
        let before = await manager.services
        let error = await #expect(throws: RadioError.self) {
            try await manager.add(ServiceDefinition(uuid: reserved.uuid))
        }
        #expect(error?.coreBluetoothCode == 8)
        #expect(error?.message.contains(reserved.name) == true)
        #expect(await manager.services == before)
        // A radio adds these two by itself, for everybody.
        guard ![GATT.genericAccess, GATT.genericAttribute].contains(reserved.uuid) else { return }
        let accessory = await rig.phone.makePeripheralManager()
        try await accessory.add(ServiceDefinition(uuid: reserved.uuid))
        #expect(await accessory.services.map(\.uuid) == [reserved.uuid])
    }

    @Test func `the article has the rules for relaunching of each version`() throws {
        let article = try DocumentPage("\(DocumentPage.articles)/PlayAnIOSApp.md")
        for cause in RelaunchCause.allCases {
            let rules = IOSVersion.relaunchVersions.map { IOSVersion($0).relaunch(after: cause).rawValue }
            #expect(article.lines.contains("| `\(cause.rawValue)` | \(rules.joined(separator: " | ")) |"))
        }
    }

    @Test func `the article lists the services, and who saw each refused`() throws {
        let article = try DocumentPage("\(DocumentPage.articles)/PlayAnIOSApp.md")
        for service in AppleServices.reserved {
            let seen = service.seen.map { "\($0) " } ?? ""
            #expect(article.lines.contains("| \(service.name) | \(service.uuid) | \(seen)|"))
        }
    }
}
