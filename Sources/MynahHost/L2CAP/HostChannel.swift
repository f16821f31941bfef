import MynahCore

/// A channel of a `HostRadio`, which is closed when its last reference is released.
final class HostChannel: L2CAPChannel {
    private let end: ChannelEnd
    private let radio: HostRadio

    var psm: UInt16 { end.psm }
    var peer: Peer.ID { end.peer }
    var maximumLength: Int { end.maximumLength }

    init(_ end: ChannelEnd, of radio: HostRadio) {
        self.end = end
        self.radio = radio
    }

    deinit {
        let (radio, key) = (radio, end.key)
        Task(executorPreference: radio.preferredExecutor) { await radio.drop(key) }
    }

    func send(_ bytes: [UInt8]) async throws(RadioError) {
        try await radio.send(bytes, over: end.key)
    }

    func receive() async -> [UInt8]? {
        await radio.receive(from: end.key)
    }

    func close() async {
        await radio.close(end.key)
    }
}
