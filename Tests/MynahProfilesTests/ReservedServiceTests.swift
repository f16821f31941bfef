import MynahCore
import Testing

@testable import MynahProfiles

/// Services that iOS keeps for itself, in the profile of an app.
@Suite struct ReservedServiceTests {
    private static func warnings(_ app: String, _ services: String) throws -> [String] {
        let text = "mynah: 1\nname: P\n\(app)services:\n\(services)"
        return try ProfileLoader.load(text: text, file: "p.yaml").warnings.map(\.description)
    }

    /// The radio adds the others, and a profile cannot have them.
    private static let reserved = AppleServices.reserved.filter {
        ![GATT.genericAccess, GATT.genericAttribute].contains($0.uuid)
    }

    @Test(arguments: reserved)
    func `an app is warned at the line of each`(_ reserved: AppleServices.Reserved) throws {
        let services = "  - {uuid: FFF0}\n  - {uuid: \"\(reserved.uuid)\"}\n"
        let warnings = try Self.warnings("app: {}\n", services)
        #expect(warnings.count == 1)
        let start = "p.yaml:6:12: warning: iOS keeps the \(reserved.name) service \(reserved.uuid) for itself"
        #expect(warnings.first?.hasPrefix(start) == true, "\(warnings)")
        #expect(try Self.warnings("", services).isEmpty)
    }

    @Test func `a service that is used is warned of where it is used`() throws {
        let warnings = try Self.warnings("app: {}\n", "  - use: battery\n")
        #expect(warnings.first?.hasPrefix("p.yaml:5:10: warning: iOS keeps the Battery service") == true)
    }
}
