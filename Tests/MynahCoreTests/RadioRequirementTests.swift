import MynahCore
import Testing

@Suite struct RadioRequirementTests {
    /// A radio that does as little as any.
    private var modest: RadioCapabilities {
        var radio = RadioCapabilities(name: "Modest")
        radio.readErrors = .init([0x06, 0x07, 0x08, 0x0E])
        radio.writes.errors = .init([0x0D])
        radio.writes.areRefusedBesideCommands = false
        radio.writes.maximumLength = 510
        radio.writes.maximumLongLength = 508
        radio.advertising.intervalRemedy = "a newer one does not"
        radio.writes.protectsCommandsAlone = false
        radio.subscriptions.areAuthorized = false
        radio.advertising.keepsInterval = false
        radio.advertising.isExact = false
        radio.advertising.sendsEmptyData = false
        return radio
    }

    private static let needs: [(RadioNeed, isFatal: Bool, String)] = [
        (
            .readError(.insufficientResources), true,
            """
            Modest cannot answer a read with 0x11 (insufficient resources); it can send 0x06 to 0x08 \
            and 0x0E
            """
        ),
        (
            .writeError(.init(code: 0x80)), true,
            "Modest cannot answer a write with 0x80 (application error); it can send 0x0D"
        ),
        (
            .refusalBesideCommands, true,
            "Modest cannot refuse a write of X, because it has writeWithoutResponse; remove that or the error"
        ),
        (
            .answersBesideCommands, true,
            """
            Modest cannot wait for the answer to a write of X, because it has writeWithoutResponse; remove \
            that or ask: write
            """
        ),
        (
            .lengthLimitBesideCommands(20), false,
            """
            Modest does not answer writes of more than 20 bytes with 0x0D, because X has \
            writeWithoutResponse
            """
        ),
        (
            .writes(512), false,
            "Modest accepts writes of up to 510 bytes, but X allows 512; set maxLength: 510"
        ),
        (
            .longWrites(509), false,
            """
            Modest accepts long writes (over ATT_MTU − 3 bytes) of up to 508 bytes, but X allows 509; set \
            maxLength: 508
            """
        ),
        (.protectedCommands, false, "Modest protects commands only by giving X the property write as well"),
        (.authorizedSubscriptions, true, "Modest cannot ask for consent before a central subscribes to X"),
        (
            .advertisingInterval(.milliseconds(100)), false,
            "Modest advertises at its own interval; a newer one does not"
        ),
        (
            .advertisedWidth(BluetoothUUID(0x180D as UInt16).in128Bits), false,
            "Modest advertises 0000180D-0000-1000-8000-00805F9B34FB as 180D"
        ),
        (.emptyAdvertisingData, true, "Modest does not advertise X without a byte of data"),
    ]

    @Test("a radio that cannot do something says what, and whether it matters", arguments: needs.indices)
    func saysWhat(_ index: Int) throws {
        let (need, isFatal, message) = Self.needs[index]
        let found = modest.shortcomings([RadioRequirement(need, of: "X", at: 7)])
        let shortcoming = try #require(found.first)
        #expect(found.count == 1)
        #expect(shortcoming.message == message)
        #expect(shortcoming.isFatal == isFatal)
        #expect(shortcoming.requirement.location == 7)
    }

    @Test("a radio that can do everything says nothing")
    func saysNothing() {
        let all = Self.needs.map { RadioRequirement($0.0, of: "X", at: 7) }
        #expect(RadioCapabilities(name: "Able").shortcomings(all).isEmpty)
    }

    @Test("a profile within a radio's limits has no shortcoming")
    func withinLimits() {
        let needs: [RadioNeed] = [
            .readError(.invalidOffset), .writeError(.invalidAttributeValueLength), .writes(510),
            .lengthLimitBesideCommands(510), .longWrites(508), .longWrites(512),
        ]
        #expect(modest.shortcomings(needs.map { RadioRequirement($0, of: "X", at: 7) }).isEmpty)
    }

    @Test("error codes are listed as runs")
    func listsCodes() {
        #expect(RadioCapabilities.ErrorCodes([]).description == "none")
        #expect(RadioCapabilities.ErrorCodes([0xFF]).description == "0xFF")
        #expect(RadioCapabilities.ErrorCodes([0x0E, 0x0D]).description == "0x0D and 0x0E")
        #expect(RadioCapabilities.ErrorCodes.all.description == "0x01 to 0xFF")
        let codes = RadioCapabilities.ErrorCodes([0x02, 0x06, 0x07, 0x08] + ATTError.applicationCodes)
        #expect(codes.description == "0x02, 0x06 to 0x08 and 0x80 to 0x9F")
    }
}
