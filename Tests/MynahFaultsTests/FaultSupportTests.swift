import MynahCore
import MynahFaults
import MynahTestSupport
import Testing

/// The faults that each radio can carry out, and why not.
@Suite struct FaultSupportTests {
    /// The radios that carry out an effect at a trigger.
    ///
    /// O is our own host, B BlueZ, and F a radio that can fall silent and has nothing else below ATT. A dot
    /// is a combination that means nothing on any radio.
    private static let table = """
        .                  read write notify subscribe connect pair discover mtu advertise after
        delay              OBF  OBF   OBF    O         .       .    O        O   .         .
        error              OBF  OBF   .      O         .       .    O        O   .         .
        truncate           OBF  .     OBF    .         .       .    .        .   .         .
        corrupt            OBF  .     OBF    .         .       .    .        .   .         .
        value              OBF  .     OBF    .         .       .    .        .   .         .
        mtu                .    .     .      .         .       .    .        O   .         .
        drop               .    OBF   OBF    .         .       .    .        .   .         .
        duplicate          .    .     OBF    .         .       .    .        .   .         .
        reorder            .    .     OBF    .         .       .    .        .   .         .
        noAnswer           OF   OF    .      O         .       .    O        O   .         .
        disconnect         OBF  OBF   OBF    OBF       OBF     OBF  O        O   .         OBF
        refuseSubscription .    .     .      O         .       .    .        .   .         .
        refuseConnection   .    .     .      .         OBF     .    .        .   .         .
        loseBond           OBF  OBF   OBF    OBF       OBF     OBF  O        O   .         OBF
        changeServices     OBF  OBF   OBF    OBF       OBF     OBF  O        O   .         OBF
        advertise          OBF  OBF   OBF    OBF       OBF     OBF  O        O   OBF       OBF
        vanish             OBF  OBF   OBF    OBF       OBF     OBF  O        O   OBF       OBF
        """

    private struct Radio {
        var capabilities = RadioCapabilities(name: "R")
        var faults = FaultSupport.ownHost

        func shortcoming(of fault: Fault, properties: CharacteristicProperties? = nil) -> String? {
            capabilities.shortcoming(of: fault, properties: properties, with: faults)
        }
    }

    private static func radio(_ letter: Character) -> Radio {
        var radio = Radio()
        switch letter {
        case "B":
            radio.faults = .bluez
            radio.capabilities.readErrors = .init([0x80])
            radio.capabilities.writes.errors = .init([0x80])
            radio.capabilities.writes.areRefusedBesideCommands = false
            radio.capabilities.subscriptions.namesSubscribers = false
            radio.capabilities.answerDeadline = .seconds(5)
        case "F": radio.faults = FakeRadio().faultSupport
        default: break
        }
        return radio
    }

    private static func effect(_ kind: FaultEffect.Kind) -> FaultEffect? {
        switch kind {
        case .delay: nil
        case .error: .error(ATTError(code: 0x80))
        case .truncate: .truncate(1)
        case .corrupt: .corrupt(.init(xor: [0xFF], at: 2))
        case .value: .value([1])
        case .mtu: .mtu(23)
        case .drop: .drop
        case .duplicate: .duplicate
        case .reorder: .reorder
        case .noAnswer: .noAnswer
        case .disconnect: .disconnect(reason: 0x13)
        case .refuseSubscription: .refuseSubscription
        case .refuseConnection: .refuseConnection
        case .loseBond: .loseBond(.reject)
        case .changeServices: .changeServices(removing: AttributeKey())
        case .advertise: .advertise(AdvertisementChange(localName: "DFU"), for: .seconds(10))
        case .vanish: .vanish(for: nil)
        }
    }

    private static func trigger(_ kind: FaultTrigger.Kind) -> FaultTrigger {
        FaultTrigger.Operation(rawValue: kind.rawValue).map { .on($0) } ?? .after(.seconds(20))
    }

    private static func fault(_ effect: FaultEffect?, on trigger: FaultTrigger) -> Fault {
        Fault(name: "f", trigger: trigger, delay: effect == nil ? .seconds(3) : .zero, effect: effect)
    }

    @Test("every effect at every trigger is carried out or refused, on every radio")
    func wholeTable() {
        let rows = Self.table.split(separator: "\n").map { $0.split(separator: " ") }
        let columns = rows[0].dropFirst().compactMap { FaultTrigger.Kind(rawValue: String($0)) }
        #expect(columns == FaultTrigger.Kind.allCases)
        #expect(Set(rows.dropFirst().map { String($0[0]) }) == Set(FaultEffect.Kind.allCases.map(\.rawValue)))
        for row in rows.dropFirst() {
            guard let effect = FaultEffect.Kind(rawValue: String(row[0])) else { continue }
            for (trigger, cell) in zip(columns, row.dropFirst()) {
                let fault = Self.fault(Self.effect(effect), on: Self.trigger(trigger))
                #expect((fault.mistake != nil) == (cell == "."), "\(effect) on \(trigger)")
                for letter in "OBF" {
                    let radio = Self.radio(letter)
                    #expect(
                        radio.faults.allows(effect, at: trigger) == cell.contains(letter),
                        "\(effect) on \(trigger), \(letter)")
                    let shortcoming = radio.shortcoming(of: fault)
                    #expect(
                        (shortcoming == nil) == cell.contains(letter), "\(letter): \(shortcoming ?? "none")")
                }
            }
        }
    }

    @Test("a radio says in words what it cannot do and what it can")
    func words() {
        var bluez = Self.radio("B")
        bluez.capabilities.name = "BlueZ 5.66 on hci0"
        let own = Self.radio("O")
        let rows: [(Radio, Fault, CharacteristicProperties?, String?)] = [
            (
                bluez, Self.fault(.disconnect(reason: 0x15), on: .on(.read)), nil,
                "BlueZ 5.66 on hci0 cannot end a link with reason 0x15; it can use 0x13"
            ),
            (
                own, Self.fault(.disconnect(reason: 0x22), on: .on(.read)), nil,
                "R cannot end a link with reason 0x22; it can use 0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B"
            ),
            (
                bluez, Self.fault(.noAnswer, on: .on(.read)), nil,
                "BlueZ 5.66 on hci0 cannot carry out noAnswer"
            ),
            (
                bluez, Self.fault(.error(.unlikelyError), on: .on(.subscribe)), nil,
                "BlueZ 5.66 on hci0 cannot carry out error on subscribe; it can on read and write"
            ),
            (
                bluez, Self.fault(.error(ATTError(code: 0x11)), on: .on(.read)), nil,
                """
                BlueZ 5.66 on hci0 cannot answer a read with 0x11 (insufficient resources); it can send 0x80
                """
            ),
            (
                bluez, Self.fault(.error(ATTError(code: 0x80)), on: .on(.write)), [.writeWithoutResponse],
                """
                BlueZ 5.66 on hci0 cannot refuse a write of a characteristic that has writeWithoutResponse
                """
            ),
            (bluez, Self.fault(.error(ATTError(code: 0x80)), on: .on(.write)), [.write], nil),
            (
                bluez, Fault(name: "f", trigger: .on(.write), delay: .seconds(1)),
                [.write, .writeWithoutResponse],
                """
                BlueZ 5.66 on hci0 cannot hold up a write of a characteristic that has writeWithoutResponse
                """
            ),
            (bluez, Self.fault(.drop, on: .on(.write)), [.write, .writeWithoutResponse], nil),
            (own, Self.fault(.noAnswer, on: .on(.write)), [.write, .writeWithoutResponse], nil),
            (
                bluez, Fault(name: "f", trigger: .on(.read), delay: .seconds(5)), nil,
                "BlueZ 5.66 on hci0 can hold up an answer for 4500 ms at most"
            ),
            (bluez, Fault(name: "f", trigger: .on(.notify), delay: .seconds(60)), nil, nil),
            (
                own, Fault(name: "f", trigger: .on(.write), delay: .seconds(30)), nil,
                "R can hold up an answer for 29 s at most"
            ),
            (own, Fault(name: "f", trigger: .on(.write), delay: .seconds(29)), nil, nil),
            (
                bluez, Self.fault(.loseBond(.disconnect), on: .on(.connect)), nil,
                "BlueZ 5.66 on hci0 cannot lose a bond with how: disconnect; it can with how: reject"
            ),
            (
                bluez, Self.selecting(.init(central: .order(2)), .drop, on: .on(.notify)), nil,
                """
                BlueZ 5.66 on hci0 does not report which central subscribed, so a notify has no central
                """
            ),
            (bluez, Self.selecting(.init(central: .order(2)), .drop, on: .on(.write)), nil, nil),
            (
                own, Self.selecting(.init(nth: .range(1...2)), .refuseConnection, on: .on(.connect)), nil, nil
            ),
            (
                bluez, Self.selecting(.init(nth: .range(1...2)), .refuseConnection, on: .on(.connect)), nil,
                nil
            ),
        ]
        for (radio, fault, properties, expected) in rows {
            #expect(radio.shortcoming(of: fault, properties: properties) == expected)
        }
    }

    private static func selecting(
        _ selection: FaultSelection, _ effect: FaultEffect?, on trigger: FaultTrigger
    ) -> Fault {
        Fault(name: "f", trigger: trigger, selection: selection, effect: effect)
    }

    @Test("a fault that means nothing on any radio is refused by every one")
    func mistakes() {
        let (read, notify, connect) = (
            FaultTrigger.on(.read), FaultTrigger.on(.notify), FaultTrigger.on(.connect)
        )
        let later = FaultTrigger.after(.seconds(1))
        let rows: [(Fault, String)] = [
            (
                Self.fault(.error(.unlikelyError), on: notify),
                "error does nothing on notify; it applies to read, write, subscribe, discover and mtu"
            ),
            (Self.fault(.mtu(40), on: read), "mtu does nothing on read; it applies to mtu"),
            (Fault(name: "f", trigger: read), "the fault has neither an effect nor a delay"),
            (Fault(name: "f", trigger: read, delay: .seconds(-1)), "delay takes a time above 0"),
            (
                Fault(name: "f", trigger: later, delay: .seconds(1), effect: .vanish(for: nil)),
                "a fault after a time has no delay; make the time longer"
            ),
            (
                Fault(name: "f", trigger: .after(.zero), effect: .vanish(for: nil)),
                "after takes a time above 0"
            ),
            (
                Fault(name: "f", trigger: .on(.advertise), delay: .seconds(1), effect: .vanish(for: nil)),
                "advertise has no delay; use after"
            ),
            (
                Fault(name: "f", trigger: read, delay: .seconds(1), effect: .noAnswer),
                "noAnswer cannot have a delay"
            ),
            (
                Fault(name: "f", trigger: notify, delay: .seconds(1), effect: .drop),
                "a value that is dropped cannot have a delay"
            ),
            (Self.selecting(.init(chance: 1.1), .drop, on: notify), "chance is from 0 to 100 %"),
            (Self.selecting(.init(chance: .nan), .drop, on: notify), "chance is from 0 to 100 %"),
            (Self.selecting(.init(nth: .range(0...2)), .drop, on: notify), "nth counts from 1"),
            (Self.selecting(.init(nth: .every(0)), .drop, on: notify), "nth: every N takes a number from 1"),
            (
                Self.selecting(.init(nth: .every(2)), .vanish(for: nil), on: later),
                "nth counts operations, and a fault after a time has none"
            ),
            (Self.selecting(.init(times: 0), .drop, on: notify), "times is a number from 1"),
            (
                Self.selecting(.init(central: .order(0)), .drop, on: notify),
                "central counts connections from 1"
            ),
            (
                Self.fault(.corrupt(.init(xor: [1], at: .max)), on: read),
                "corrupt changes bytes of a value, which has 512 at most"
            ),
            (
                Self.selecting(.init(central: .order(1)), .refuseConnection, on: connect),
                "refuseConnection concerns every central; remove central"
            ),
            (
                Self.selecting(.init(central: .order(1)), .vanish(for: nil), on: .on(.advertise)),
                "advertise concerns every central; remove central"
            ),
            (
                Fault(name: "f", trigger: connect, of: AttributeKey(), effect: .disconnect(reason: 0x13)),
                "connect has no attribute; remove of"
            ),
            (Self.fault(.error(ATTError(code: 0)), on: read), "0x00 is not an error"),
            (Self.fault(.truncate(512), on: read), "truncate takes a length from 0 to 511 bytes"),
            (Self.fault(.truncate(-1), on: read), "truncate takes a length from 0 to 511 bytes"),
            (Self.fault(.corrupt(.init(xor: [], at: 0)), on: read), "corrupt needs a byte that is not 00"),
            (
                Self.fault(.corrupt(.init(xor: [1, 2], at: 511)), on: read),
                "corrupt changes bytes of a value, which has 512 at most"
            ),
            (
                Self.fault(.value(Array(repeating: 0, count: 513)), on: read),
                "a value has 512 bytes at most"
            ),
            (Self.fault(.mtu(22), on: .on(.mtu)), "an MTU is from 23 to 517 bytes"),
            (
                Self.fault(.advertise(AdvertisementChange(), for: nil), on: later),
                "advertise needs at least one field in with"
            ),
            (Self.fault(.vanish(for: .zero), on: later), "for takes a time above 0"),
        ]
        for (fault, expected) in rows {
            #expect(fault.mistake == expected)
            #expect(Self.radio("B").shortcoming(of: fault) == expected)
        }
    }

    @Test("an effect changes the bytes of a value of any length as it says")
    func changedValues() {
        let rows: [(FaultEffect, [UInt8], [UInt8]?)] = [
            (.truncate(2), [1, 2, 3], [1, 2]), (.truncate(2), [1], [1]), (.truncate(0), [1], []),
            (.corrupt(.init(xor: [0xFF], at: 2)), [1, 2, 3, 4], [1, 2, 0xFC, 4]),
            (.corrupt(.init(xor: [0xFF, 0x0F], at: 2)), [1, 2, 3], [1, 2, 0xFC]),
            (.corrupt(.init(xor: [0xFF], at: 2)), [1, 2], [1, 2]),
            (.corrupt(.init(xor: [0xFF], at: -1)), [1, 2], [1, 2]),
            (.corrupt(.init(xor: [0xFF, 1], at: .max)), [1, 2], [1, 2]),
            (.value([9]), [1, 2], [9]), (.drop, [1], nil), (.noAnswer, [1], nil),
        ]
        for (effect, value, expected) in rows { #expect(effect.changed(value) == expected, "\(effect)") }
    }

    @Test("an advertisement changes in the fields that the fault names, and nowhere else")
    func changedAdvertisement() {
        var usual = Advertisement(localName: "Meter", serviceUUIDs: [BluetoothUUID(0x180D as UInt16)])
        usual.exact = ExactAdvertisement(data: [], scanResponse: [])
        var expected = usual
        expected.localName = "DFU"
        expected.exact = nil
        #expect(AdvertisementChange(localName: "DFU").applied(to: usual) == expected)
        #expect(AdvertisementChange(localName: "").applied(to: usual).localName == nil)
        var change = AdvertisementChange()
        change.data.serviceUUIDs = []
        change.data.manufacturerData = [.init(company: 0x004C, data: [1])]
        let changed = change.applied(to: usual)
        #expect(changed.serviceUUIDs.isEmpty && changed.localName == "Meter")
        #expect(changed.manufacturerData == [.init(company: 0x004C, data: [1])])
        var slower = AdvertisementChange()
        slower.interval = .seconds(1)...(.seconds(2))
        #expect(slower.applied(to: usual).exact == usual.exact)
    }
}
