import MynahCore
import MynahHCI
import Testing

@testable import MynahHost

/// The machines together, on a controller that answers every command.
@Suite struct ControllerSessionTests {
    /// A session that is brought up with private addresses, and the commands since then.
    private struct Scene {
        var session = ControllerSession(name: "the controller", timeout: .seconds(5))
        var now = Duration.zero
        var sent: [HCICommand] = []
        var other: [ControllerSession.Action] = []
        var refused: [HCIOpcode: HCIStatus] = [:]

        /// The answers in which this controller differs from the default one.
        var answers: [HCIOpcode: [UInt8]] = [:]

        init(central: Bool, _ answers: [HCIOpcode: [UInt8]] = [:]) throws {
            self.answers = answers
            session.prefersExtendedCommands = central
            try take { session, now, actions in session.bringUp(at: now, &actions) }
            sent = []
            other = []
        }

        /// Passes something to the session, and answers what it sends until it sends nothing more.
        @discardableResult
        mutating func take<Result>(
            _ body: (inout ControllerSession, Duration, inout [ControllerSession.Action]) throws -> Result
        ) throws -> Result {
            var actions: [ControllerSession.Action] = []
            let result = try body(&session, now, &actions)
            while !actions.isEmpty {
                switch actions.removeFirst() {
                case .send(let command):
                    sent.append(command)
                    let status = refused[command.opcode] ?? .success
                    let answer = answers[command.opcode] ?? BringUpTests.answers[command.opcode] ?? []
                    session.answered(command.opcode, credits: 1, status, answer, at: now, &actions)
                case .chooseAddress(let address):
                    var source = OwnAddressTests.source(.resolvablePrivate(every: .seconds(60)))
                    source.publicAddress = address
                    session.choose(source, at: now, &actions)
                case let action: other.append(action)
                }
            }
            return result
        }

        mutating func change<Result>(
            _ change: (inout HostAdvertisingSets, inout HostScanner, inout Connector) -> Result
        ) throws -> Result {
            try take { session, now, actions in session.change(at: now, &actions, change) }
        }
    }

    @Test func `the address changes while advertising, scanning and initiating are off, and all three go on`()
        throws
    {
        var scene = try Scene(central: true)
        let peer = DeviceAddress(value: 0xC0_0000_0000_01, kind: .random)
        _ = try scene.change { advertiser, scanner, connector in
            _ = advertiser.want([HostAdvertiserTests.first])
            _ = scanner.want(ScanOptions())
            return connector.want(peer, onAir: peer)
        }
        let first = scene.session.address.current
        scene.sent = []
        scene.now = .seconds(60)
        try scene.take { $0.expireAddress(at: $1, &$2) }
        // The controller has yet to report that it stopped initiating.
        #expect(
            Set(scene.sent.map(\.opcode)) == [
                .leSetExtendedAdvertisingEnable, .leSetExtendedScanEnable, .leCreateConnectionCancel,
            ])
        #expect(
            scene.session.address.current == first && scene.session.connectionCancelDeadline == .seconds(65))
        scene.sent = []
        try scene.take { $0.attemptEnded(HCIStatus(0x02), at: $1, &$2) }
        #expect(scene.session.address.current != first)
        let opcodes = scene.sent.map(\.opcode)
        #expect(opcodes.first == .leSetRandomAddress)
        #expect(
            Set(opcodes.dropFirst()) == [
                .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingEnable, .leSetExtendedScanEnable,
                .leExtendedCreateConnection,
            ])
        #expect(!scene.session.advertiser.isBusy && !scene.session.scanner.isQuiet)
        #expect(scene.session.address.due == .seconds(120))
    }

    @Test(arguments: [false, true])
    func `a controller that cannot initiate while it scans does one after the other`(isAble: Bool) throws {
        // Every combination, or all but those of a scan and initiating.
        let states: [UInt8] = [0xFF, 0xFF, isAble ? 0xFF : 0x3F, 0xFF, 0xFF, 0x03, 0, 0]
        var scene = try Scene(central: true, [.leReadSupportedStates: states])
        _ = try scene.change { _, scanner, _ in scanner.want(ScanOptions()) }
        scene.sent = []
        let peer = DeviceAddress(value: 0xC0_0000_0000_01, kind: .random)
        let number = try scene.change { _, _, connector in connector.want(peer, onAir: peer) }
        let stop: [HCIOpcode] = isAble ? [] : [.leSetExtendedScanEnable]
        #expect(scene.sent.map(\.opcode) == stop + [.leExtendedCreateConnection])
        #expect((scene.session.scanner.scanning != nil) == isAble)
        scene.sent = []
        _ = try scene.change { _, _, connector in connector.giveUp(number) }
        try scene.take { $0.attemptEnded(HCIStatus(0x02), at: $1, &$2) }
        #expect(scene.sent.map(\.opcode) == [.leCreateConnectionCancel] + stop)
        #expect(scene.session.scanner.scanning == ScanOptions())
    }

    @Test func `a controller without room for a link says so with an error of its own`() throws {
        var scene = try Scene(central: true)
        scene.refused[.leExtendedCreateConnection] = .connectionLimitExceeded
        let peer = DeviceAddress(value: 0xC0_0000_0000_01, kind: .random)
        let number = try scene.change { _, _, connector in connector.want(peer, onAir: peer) }
        let failures = scene.other.compactMap { action -> ([UInt64], RadioError.Code)? in
            if case .connectionsFailed(let numbers, let error) = action { (numbers, error.code) } else { nil }
        }
        #expect(failures.count == 1)
        #expect(failures.first?.0 == [number] && failures.first?.1 == .connectionLimit)
    }

    @Test(arguments: [false, true])
    func `nothing is advertised after a controller was turned off during any step`(
        isAddressDue: Bool
    ) throws {
        var scene = try Scene(central: true)
        let peer = DeviceAddress(value: 0xC0_0000_0000_01, kind: .random)
        _ = try scene.change { advertiser, scanner, connector in
            _ = advertiser.want([HostAdvertiserTests.first])
            _ = scanner.want(ScanOptions())
            return connector.want(peer, onAir: peer)
        }
        if isAddressDue {
            scene.now = .seconds(60)
            try scene.take { $0.expireAddress(at: $1, &$2) }
        }
        try scene.take { $0.turnOff(at: $1, &$2) }
        scene.sent = []
        // With this the address may change, if it is to, and all would go on.
        try scene.take { $0.attemptEnded(HCIStatus(0x02), at: $1, &$2) }
        try scene.take { $0.linkEnded(.peripheral, at: $1, &$2) }
        #expect(scene.sent.map(\.opcode) == (isAddressDue ? [.leSetRandomAddress] : []))
        let session = scene.session
        #expect(session.advertiser.isQuiet && session.scanner.isQuiet && session.connector.isQuiet)
        scene.sent = []
        try scene.take { session, _, actions in session.end(nil, &actions) }
        try scene.take { session, now, actions in session.bringUp(at: now, &actions) }
        _ = try scene.change { _, _, _ in }
        let opcodes = scene.sent.map(\.opcode)
        #expect(
            opcodes.contains(.leSetExtendedAdvertisingEnable) && opcodes.contains(.leSetExtendedScanEnable))
    }

    @Test func `requests outlive a controller, except connections and calls`() throws {
        var scene = try Scene(central: true)
        let peer = DeviceAddress(value: 0xC0_0000_0000_01, kind: .random)
        _ = try scene.change { advertiser, scanner, connector in
            _ = advertiser.want([HostAdvertiserTests.first])
            _ = scanner.want(ScanOptions())
            return connector.want(peer, onAir: peer)
        }
        var actions: [ControllerSession.Action] = []
        let call = scene.session.call(HCICommand(.readRSSI), "reading", at: .zero, &actions)
        #expect(scene.session.commandDeadline == .seconds(5))
        scene.other = []
        try scene.take { session, _, actions in session.end(nil, &actions) }
        var failed: [String] = []
        for case .connectionsFailed(let numbers, let error) in scene.other {
            failed.append("\(numbers): \(error)")
        }
        for case .answered(call, .failure(let error)) in scene.other { failed.append("\(error)") }
        #expect(
            failed == [
                "[1]: the controller is gone: its transport was closed",
                "the controller is gone: its transport was closed while reading",
            ])
        #expect(scene.session.commandDeadline == nil)
        scene.sent = []
        try scene.take { session, now, actions in session.bringUp(at: now, &actions) }
        _ = try scene.change { _, _, _ in }
        let opcodes = scene.sent.map(\.opcode)
        #expect(opcodes.first == .reset)
        #expect(
            opcodes.contains(.leSetExtendedAdvertisingEnable) && opcodes.contains(.leSetExtendedScanEnable))
        #expect(!opcodes.contains(.leExtendedCreateConnection))
    }

    @Test func `a first address that the controller refuses fails the bring-up`() throws {
        var scene = try Scene(central: false)
        scene.refused[.leSetRandomAddress] = .commandDisallowed
        try scene.take { session, now, actions in session.bringUp(at: now, &actions) }
        let errors = scene.other.compactMap { action -> RadioError? in
            if case .bringUpFailed(let error) = action { error } else { nil }
        }
        #expect(errors.map(\.message) == ["the controller refused setting its random address: status 0x0C"])
    }

    @Test func `an answer about a link names the link, for another one may have its handle by then`() throws {
        var scene = try Scene(central: true)
        scene.refused[.leReadRemoteFeatures] = .commandDisallowed
        try scene.take { session, now, actions in
            session.send(
                .readFeatures, of: 0x40, Peer.ID(7), HCICommand(.leReadRemoteFeatures, handle: 0x40), at: now,
                &actions)
        }
        guard case .linkCommandRefused(.readFeatures, handle: 0x40, Peer.ID(7))? = scene.other.last else {
            Issue.record("\(scene.other)")
            return
        }
    }
}
