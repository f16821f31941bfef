import MynahCore
import MynahSupport
import Testing

@testable import MynahHost

/// The rules of the specification for errors and their order, PDU in, PDU out.
@Suite struct ATTRuleTests {
    var rig = ATTRig()

    // 3 battery (read), 4 CCCD, 9 control (write 4 bytes), 12 secret (read encrypted, write authenticated),
    // 14 long (100 bytes)

    @Test(arguments: [
        // An invalid handle is reported before any other error.
        ("0A 0000", "010A000001"), ("0A 0F00", "010A0F0001"), ("0C 0F00 FFFF", "010C0F0001"),
        ("12 0F00 01", "01120F0001"), ("16 0F00 FFFF 01", "01160F0001"), ("0E 0F00 0300", "010E0F0001"),
        // Not readable, not writable: before the offset, the length and the link's security.
        ("0A 0900", "010A090002"), ("0C 0900 FFFF", "010C090002"), ("12 0300 0102030405", "0112030003"),
        ("16 0300 FFFF 01", "0116030003"), ("20 0900 0300", "0120090002"),
        // The link's security: before the offset and the length.
        ("0A 0C00", "010A0C0005"), ("0C 0C00 FFFF", "010C0C0005"), ("16 0C00 FFFF 01", "01160C0005"),
        ("20 0E00 0C00", "01200C0005"),
        // The offset, then the length.
        ("0C 0E00 6500", "010C0E0007"), ("12 0900 0102030405", "011209000D"),
    ])
    mutating func `handle, permission, security, offset and length are checked in this order`(
        hex: String, answer: String
    ) {
        #expect(rig.exchange(hex) == answer)
    }

    @Test mutating func `an offset at the end of a value reads nothing, and is no error`() {
        let actions = rig.receive("0C 0E00 6400")
        #expect(actions.last == .send([0x0D]))
    }

    @Test(arguments: [
        (LinkSecurity(), "05", "05"),
        // A bond whose key is not in use.
        (LinkSecurity(isBonded: true), "0F", "0F"),
        (LinkSecurity(isEncrypted: true), nil, "05"),
        (LinkSecurity(isEncrypted: true, isAuthenticated: true), nil, nil),
    ])
    mutating func `an error says what the link lacks: a key, or its use, or authentication`(
        security: LinkSecurity, read: String?, write: String?
    ) {
        rig.security = security
        if let read {
            #expect(rig.exchange("0A 0C00") == "010A0C00" + read)
        } else {
            #expect(rig.receive("0A 0C00") == [.read(rig.secret.key, offset: 0)])
            _ = rig.answer(.success([]))
        }
        if let write {
            #expect(rig.exchange("12 0C00 01") == "01120C00" + write)
        } else {
            #expect(rig.receive("12 0C00 01").count == 1)
        }
    }

    @Test func `each requirement has its own answer`() {
        func code(_ requirement: SecurityRequirement, _ security: LinkSecurity) -> UInt8? {
            security.denial(requirement)?.code
        }
        let plain = LinkSecurity()
        #expect(code(.open, plain) == nil && code(.encrypted, plain) == 0x05 && code(.secure, plain) == 0x05)
        #expect(code(.authorized, plain) == 0x08)
        // A peer with the address of a bonded peer has to prove that it is that peer.
        let named = LinkSecurity(isBonded: true)
        #expect(code(.authorized, named) == 0x0F && code(.encrypted, named) == 0x0F)
        let justWorks = LinkSecurity(isEncrypted: true, isSecureConnections: true)
        #expect(code(.encrypted, justWorks) == nil && code(.authenticated, justWorks) == 0x05)
        #expect(code(.authorized, justWorks) == nil && code(.secure, justWorks) == 0x05)
        let legacy = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        #expect(code(.authenticated, legacy) == nil && code(.secure, legacy) == 0x05)
        var best = legacy
        best.isSecureConnections = true
        #expect(code(.secure, best) == nil)
        best.keySize = 15
        #expect(code(.secure, best) == 0x0C && code(.authenticated, best) == nil)
    }

    @Test(arguments: [
        ("04 0000 FFFF", "0104000001"), ("04 0500 0400", "0104050001"),
        ("06 0000 0100 0028 0F18", "0106000001"),
        ("06 0200 0100 0028", "0106020001"), ("08 0000 0000 0328", "0108000001"),
        ("08 0900 0100 0328", "0108090001"), ("10 0000 FFFF 0028", "0110000001"),
        ("10 0300 0200 0028", "0110030001"), ("10 0100 FFFF 0328", "0110010010"),
        ("10 0F00 FFFF 0028", "01100F000A"), ("04 0F00 FFFF", "01040F000A"),
        ("08 0100 FFFF 0029", "010801000A"),
        ("06 0100 FFFF 0028 1018", "010601000A"),
    ])
    mutating func
        `a range that starts at nothing, ends before it starts or holds nothing is an error at its start`(
            hex: String, answer: String
        )
    {
        #expect(rig.exchange(hex) == answer)
    }

    @Test mutating func `commands are never answered, with any error`() {
        for opcode in 0x40...0xFF as ClosedRange<UInt8> where ATTOpcode.isCommand(opcode) {
            for rest in ["", "00", "0000", "0900", "0F00 01", "0300 01", "0C00 01", "0900 0102030405060708"] {
                if opcode == ATTOpcode.writeCommand, rest.hasPrefix("0900") { continue }
                #expect(rig.receive(Hex.encode([opcode]) + rest).isEmpty)
            }
        }
    }

    @Test mutating func `each request that nobody knows is answered with its opcode`() {
        let known: Set<UInt8> = [
            0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x1E, 0x20,
        ]
        // Responses, notifications and indications (Core Specification, Vol 3, Part F, 3.4.8).
        let ofServer: Set<UInt8> = [
            0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x1B, 0x1D, 0x21, 0x23,
        ]
        for opcode in UInt8.min...UInt8.max where opcode & 0x40 == 0 && !known.contains(opcode) {
            let answer = rig.exchange(Hex.encode([opcode]) + "010001")
            #expect(answer == (ofServer.contains(opcode) ? nil : "01" + Hex.encode([opcode]) + "000006"))
        }
    }

    @Test mutating func `a request that the application does not support names no handle`() {
        _ = rig.receive("0A 0300")
        #expect(rig.answer(.failure(.requestNotSupported)) == "010A000006")
        _ = rig.receive("12 0900 01")
        #expect(rig.answer(.failure(.requestNotSupported)) == "0112000006")
    }

    @Test mutating func `a queue whose attribute became closed is carried out not at all`() {
        rig.security = LinkSecurity(isEncrypted: true, isAuthenticated: true)
        #expect(rig.exchange("16 0900 0000 01") == "17090000" + "0001")
        #expect(rig.exchange("16 0C00 0000 02") == "170C000000" + "02")
        rig.security = LinkSecurity()
        #expect(rig.exchange("18 01") == "01180C0005")
        #expect(rig.exchange("18 01") == "19")
    }

    @Test mutating func `signed commands go on with their whole PDU, unless the link is encrypted`() {
        let open = CharacteristicDefinition(
            uuid: "FFF4", properties: .authenticatedSignedWrites, maximumLength: 2)
        #expect(rig.database.publish([ServiceDefinition(uuid: "FFF5", characteristics: [open])]) == 15...17)
        let signature = String(repeating: "AA", count: 12)
        #expect(
            rig.receive("D2 1100 01" + signature) == [
                .signedWrite(
                    .init(attribute: open.key, value: [1]),
                    pdu: [0xD2, 0x11, 0, 1] + Array(repeating: 0xAA, count: 12))
            ])
        for hex in [
            "D2 1100 010203" + signature, "D2 0900 01" + signature, "D2 1200 01" + signature, "52 1100 01",
            "D2 1100" + signature.dropLast(2),
        ] {
            #expect(rig.receive(hex).isEmpty)
        }
        rig.security.isEncrypted = true
        #expect(rig.receive("D2 1100 01" + signature).isEmpty)
    }

    // MARK: Robust caching (Vol 3, Part G, 2.5.2.1)

    mutating func change() {
        rig.server.client.features = 1
        rig.server.databaseChanged()
    }

    @Test(arguments: [
        "0A 0300", "0C 0300 0000", "0E 0300 0500", "20 0300 0500", "12 0900 01", "16 0900 0000 01",
        "08 0100 0500 192A",
    ])
    mutating func `a request that names handles is out of sync once, then answered`(hex: String) {
        change()
        #expect(rig.exchange(hex)?.hasSuffix("12") == true)
        #expect(rig.receive(hex).first == .becameAware)
        #expect(rig.server.client.awareness == .aware)
    }

    @Test(arguments: [
        "02 F700", "04 0100 FFFF", "06 0100 FFFF 0028 0F18", "10 0100 FFFF 0028", "08 0100 FFFF 192A",
        "08 0100 0500 0328", "08 0100 0500 0228",
    ])
    mutating func `discovery requests are always answered`(hex: String) {
        change()
        #expect(!(rig.exchange(hex) ?? "").hasSuffix("12"))
        #expect(rig.server.client.awareness == .unaware)
    }

    @Test mutating func `a client without the feature is never out of sync, and its queue is gone`() {
        _ = rig.receive("16 0900 0000 01")
        rig.server.databaseChanged()
        #expect(rig.exchange("0A 0500")?.hasPrefix("0B") != false)
        #expect(rig.exchange("18 01") == "19")
    }
}
