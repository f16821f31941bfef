/// The faults that a radio can carry out: the table of triggers and effects, and the limits of each.
///
/// `check`, the documentation and the tests use this table. Further limits, such as the radio's ATT errors
/// and the time limit for its answers, are in its other capabilities: see
/// `RadioCapabilities.shortcoming(of:properties:with:)`.
package struct FaultSupport: Hashable, Sendable {
    /// The triggers that the radio supports with each effect; an effect that is missing is not supported.
    package var triggers: [FaultEffect.Kind: Set<FaultTrigger.Kind>]
    /// The reasons with which the radio can end a link.
    package var disconnectReasons: [UInt8]
    /// The ways in which the radio can lose a bond.
    package var lostBonds: Set<FaultEffect.LostBond>
    /// `true` if the radio refuses connections by advertising as not connectable.
    ///
    /// Otherwise, or if the fault applies only to some connections, the radio ends a new connection at once.
    package var refusesByAdvertising: Bool
    /// Texts for users about effects that the radio carries out differently from other radios.
    package var ways: [FaultEffect.Kind: String]
    /// `true` if faults can apply to requests for Client Characteristic Configurations.
    package var reachesConfigurations = true

    /// The triggers with which each effect can do something on some radio.
    package static let meaningful: [FaultEffect.Kind: Set<FaultTrigger.Kind>] = {
        let requests: Set<FaultTrigger.Kind> = [.read, .write, .subscribe, .discover, .mtu]
        let links = requests.union([.notify, .connect, .pair])
        return [
            .delay: requests.union([.notify]),
            .error: requests,
            .truncate: [.read, .notify],
            .corrupt: [.read, .notify],
            .value: [.read, .notify],
            .mtu: [.mtu],
            .drop: [.write, .notify],
            .duplicate: [.notify],
            .reorder: [.notify],
            .noAnswer: requests,
            .disconnect: links.union([.after]),
            .refuseSubscription: [.subscribe],
            .refuseConnection: [.connect],
            .loseBond: links.union([.after]),
            .changeServices: links.union([.after]),
            .advertise: links.union([.advertise, .after]),
            .vanish: links.union([.advertise, .after]),
        ]
    }()

    /// The support of Mynah's own host.
    package static let ownHost = FaultSupport(
        triggers: meaningful,
        disconnectReasons: [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B],
        lostBonds: [.reject, .disconnect],
        refusesByAdvertising: true,
        ways: [
            .noAnswer: "no answer until the central's transaction times out after 30 s",
            .refuseConnection: "an advertisement that is not connectable",
            .vanish: "the controller is reset and advertises nothing",
        ])

    /// The support of bluetoothd, which handles discovery, the MTU and subscriptions by itself.
    package static let bluez: FaultSupport = {
        let unseen: Set<FaultTrigger.Kind> = [.discover, .mtu]
        var triggers = meaningful.mapValues { $0.subtracting(unseen) }
        for effect in [FaultEffect.Kind.delay, .error] { triggers[effect]?.remove(.subscribe) }
        for effect in [FaultEffect.Kind.noAnswer, .refuseSubscription, .mtu] { triggers[effect] = nil }
        var support = FaultSupport(
            triggers: triggers,
            disconnectReasons: [0x13],
            lostBonds: [.reject],
            refusesByAdvertising: false,
            ways: [
                .disconnect: "the request is answered with 0x0E first",
                .refuseConnection: "the link ends as soon as it is reported",
                .loseBond: "RemoveDevice, which also ends the link",
                .vanish: "the adapter is turned off, for other programs too",
            ])
        support.reachesConfigurations = false
        return support
    }()

    /// Whether the radio can carry out an effect for a trigger.
    package func allows(_ effect: FaultEffect.Kind, at trigger: FaultTrigger.Kind) -> Bool {
        triggers[effect]?.contains(trigger) == true
    }
}
