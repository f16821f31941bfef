import MynahCore
import MynahDBus
import Testing

@testable import MynahBlueZ

@Suite struct FlagTests {
    private func flags(
        _ properties: CharacteristicProperties, _ permissions: AttributePermissions = .open
    ) -> [String] {
        GattFlags.flags(
            of: CharacteristicDefinition(uuid: "2A37", properties: properties, permissions: permissions))
    }

    @Test(arguments: [
        (CharacteristicProperties.broadcast, "broadcast"), (.read, "read"),
        (.writeWithoutResponse, "write-without-response"), (.write, "write"), (.notify, "notify"),
        (.indicate, "indicate"), (.authenticatedSignedWrites, "authenticated-signed-writes"),
        (.extendedProperties, "extended-properties"), (.reliableWrite, "reliable-write"),
        (.writableAuxiliaries, "writable-auxiliaries"),
    ])
    func `an open property is one flag`(property: CharacteristicProperties, flag: String) {
        #expect(flags(property) == [flag])
    }

    @Test(arguments: [
        (SecurityRequirement.open, ""), (.encrypted, "encrypt-"), (.authenticated, "encrypt-authenticated-"),
        (.secure, "secure-"),
    ])
    func `a requirement is a word before each use`(requirement: SecurityRequirement, prefix: String) {
        #expect(flags(.read, .init(read: requirement)) == [prefix + "read"])
        #expect(flags(.write, .init(write: requirement)) == [prefix + "write"])
        #expect(flags(.notify, .init(notify: requirement)) == [prefix + "notify"])
        #expect(flags(.indicate, .init(notify: requirement)) == [prefix + "indicate"])
    }

    @Test func `consent is the radio's to ask for, with the flag for prepared writes`() {
        #expect(flags(.read, .init(read: .authorized)) == ["read", "authorize"])
        #expect(flags(.write, .init(write: .authorized)) == ["write", "authorize"])
    }

    @Test func `a protected command brings the write property along`() {
        #expect(
            flags(.writeWithoutResponse, .init(write: .encrypted))
                == ["write-without-response", "encrypt-write"])
    }

    @Test func `a requirement for a use that is not there says nothing`() {
        #expect(flags(.read, .init(write: .secure, notify: .encrypted)) == ["read"])
    }

    @Test func `a descriptor has its own`() {
        let descriptor = DescriptorDefinition(
            uuid: "2901", properties: [.read, .write],
            permissions: .init(read: .encrypted, write: .authenticated))
        #expect(GattFlags.flags(of: descriptor) == ["encrypt-read", "encrypt-authenticated-write"])
    }

    @Test func `every flag that is written is one that bluetoothd reads`() {
        let known = Set(
            """
            broadcast read write-without-response write notify indicate authenticated-signed-writes \
            extended-properties reliable-write writable-auxiliaries encrypt-read encrypt-write \
            encrypt-notify encrypt-indicate encrypt-authenticated-read encrypt-authenticated-write \
            encrypt-authenticated-notify encrypt-authenticated-indicate secure-read secure-write \
            secure-notify secure-indicate authorize
            """.split(separator: " ").map(String.init))
        let all = CharacteristicProperties(rawValue: 0x3FF)
        var written: Set<String> = []
        for requirement in SecurityRequirement.allCases {
            written.formUnion(flags(all, .init(read: requirement, write: requirement, notify: requirement)))
        }
        #expect(written == known)
    }
}
