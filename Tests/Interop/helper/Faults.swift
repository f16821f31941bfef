import MynahCore
import MynahFaults
import MynahHost

/// The faults of the helper's device, which are all off until the driver turns them on.
enum Faults {
    /// A layer of them around a radio.
    static func layer(around radio: HostRadio, of attributes: Attributes) -> FaultyRadio {
        FaultyRadio(
            radio, faults: all(of: attributes), seed: 1,
            owner: .init(applied: { Helper.say("applied", $0.fault) }))
    }

    private static func all(of attributes: Attributes) -> [Fault] {
        let (value, ticks) = (attributes.value.key, attributes.ticks.key)
        let refused = ATTError(code: 0x81)
        return [
            fault("refused", .read, of: value, .error(refused)),
            fault("changed", .read, of: value, .corrupt(.init(xor: [0xFF], at: 0))),
            fault("slow", .read, of: value, delay: .seconds(2)),
            fault("silent", .read, of: value, .noAnswer),
            fault("lost", .write, of: value, .drop),
            fault("gone", .write, of: value, .disconnect(reason: 0x15), nth: .range(2...2)),
            fault("missing", .notify, of: ticks, .drop, nth: .every(2)),
            fault("twice", .notify, of: ticks, .duplicate, nth: .range(1...1)),
            fault("swapped", .notify, of: ticks, .reorder, nth: .range(1...1)),
            fault("closed", .subscribe, of: ticks, .refuseSubscription),
            fault("small", .mtu, .mtu(40)),
            fault("hidden", .discover, .error(refused)),
            fault("wiped", .connect, .loseBond(.reject)),
            fault("barred", .connect, .loseBond(.disconnect)),
            fault("away", .write, of: value, .vanish(for: .seconds(1))),
            fault("renamed", .write, of: value, .advertise(AdvertisementChange(localName: "DFU"), for: nil)),
            fault("reduced", .write, of: value, .changeServices(removing: attributes.strong.key)),
        ]
    }

    private static func fault(
        _ name: String, _ operation: FaultTrigger.Operation, of key: AttributeKey? = nil,
        _ effect: FaultEffect? = nil, delay: Duration = .zero, nth: FaultSelection.Ordinals = .all
    ) -> Fault {
        Fault(
            name: name, trigger: .on(operation), of: key, selection: FaultSelection(nth: nth), delay: delay,
            effect: effect,
            isOff: true)
    }
}
