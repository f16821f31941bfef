import MynahCore
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahHost

/// Keys that follow from a seed: only a run with virtual time uses them.
@Suite(.timeLimit(.minutes(5))) struct SimulatedBondTests {
    private let temporary: TemporaryDirectory
    private var path: String { temporary.path + "/bonds.json" }
    private static let peers = ["C0:00:00:00:00:01", "C0:00:00:00:00:02"]

    init() throws { temporary = try TemporaryDirectory() }

    /// Writes a file with a bond of each peer, of which the second follows from a seed.
    private func write(from random: SecurityRandom) throws -> BondStore {
        var random = random
        var store = BondStore(from: &random)
        for (index, text) in Self.peers.enumerated() {
            var bond = Bond(
                isSimulated: index == 1,
                identity: try #require(DeviceAddress(text, kind: .random)))
            bond.ownKey = Bond.LongTermKey(value: SecretKey(from: &random))
            store.keep(bond)
        }
        try KeptFile(path: path).replace(Array(store.json.prettyText.utf8))
        return store
    }

    @Test func `a simulated bond is left out by name, and the others are used`() throws {
        let store = try write(from: SecurityRandom())
        let contents = BondFile(path: path).load(acceptsSimulated: false)
        #expect(contents.store?.bonds.map(\.identity) == store.bonds.prefix(1).map(\.identity))
        #expect(contents.warning?.contains(Self.peers[1]) == true)
        #expect(contents.warning?.contains(Self.peers[0]) == false)
        #expect(contents.mayReplace)
        #expect(BondFile(path: path).load(acceptsSimulated: true).store == store)
    }

    @Test func `a file whose identity is simulated is set aside`() throws {
        let store = try write(from: SecurityRandom(simulated: 7))
        #expect(store.json["simulated"] == .bool(true))
        #expect(BondFile(path: path).load(acceptsSimulated: true).store == store)
        let contents = BondFile(path: path).load(acceptsSimulated: false)
        #expect(contents.store == nil && contents.warning?.contains("--clock fast") == true)
        #expect(!KeptFile(path: path).exists)
    }

    /// The static address that a radio begins with.
    private func address(of radio: HostRadio) async throws -> DeviceAddress? {
        let capabilities = try await radio.start(DeviceIdentity(name: "Mynah"), sink: HostSink())
        await radio.stop()
        return capabilities.address
    }

    @Test func `a seed decides the keys of a radio on a private air alone`() async throws {
        var (simulated, real): ([DeviceAddress?], [DeviceAddress?]) = ([], [])
        for _ in 0..<2 {
            let time = VirtualTime(.fast)
            let air = PrivateAir(seed: 5, time: time)
            let radio = air.radio(on: air.transport(), options: HostRadioOptions())
            simulated.append(
                try await withTaskExecutorPreference(time.executor) { try await address(of: radio) })
        }
        #expect(simulated[0] != nil && simulated[0] == simulated[1])
        for _ in 0..<2 {
            let configuration = ControllerConfiguration(
                address: DeviceAddress(value: 0, kind: .public), cipher: ControllerConfiguration.aes)
            let radio = HostRadio(transport: LiveAir(seed: 5).transport(configuration))
            real.append(try await address(of: radio))
        }
        #expect(real[0] != nil && real[0] != real[1])
    }
}
