import MynahCore

/// A channel for whoever holds it.
final class HostChannel: L2CAPChannel {
    let psm: UInt16
    let peer: Peer.ID
    let maximumLength: Int

    let key: ChannelKey
    private let radio: HostRadio

    init(psm: UInt16, peer: Peer.ID, maximumLength: Int, key: ChannelKey, radio: HostRadio) {
        self.psm = psm
        self.peer = peer
        self.maximumLength = maximumLength
        self.key = key
        self.radio = radio
    }

    /// Nobody holds it any more: it is closed.
    deinit {
        let (radio, key) = (radio, key)
        Task { await radio.drop(key) }
    }

    func send(_ bytes: [UInt8]) async throws(RadioError) {
        try await radio.send(bytes, over: key)
    }

    func receive() async -> [UInt8]? {
        await radio.receive(from: key)
    }

    func close() async {
        await radio.close(key)
    }
}

/// Names a channel for as long as the radio runs.
struct ChannelKey: Hashable, Sendable {
    var link: UInt16
    /// This end's channel identifier.
    var channel: UInt16
    var number: UInt64
}

/// A channel as the radio has it.
struct OpenChannel {
    var key: ChannelKey
    /// The number of this side's that it was opened to; nil: this side opened it.
    var service: UInt16?
    /// The other end's channel identifier.
    var peer: UInt16
    var machine: CreditChannel
    var inbox: [[UInt8]] = []
    var reader: CheckedContinuation<[UInt8]?, Never>?
    var writers: [CheckedContinuation<Result<Void, RadioError>, Never>] = []
}

/// What a radio keeps for channels.
struct ChannelKeeper {
    /// Numbers that are given out (Core Specification, Vol 3, Part A, 4.22).
    static let numbers: ClosedRange<UInt16> = 0x0080...0x00FF
    /// How many channels one link has at most.
    static let limit = 16

    /// An end that is about to be a channel's.
    struct Asking: Hashable {
        var link: UInt16
        var own: UInt16
    }

    /// The numbers that are published, and whether each wants encryption.
    var services: [UInt16: Bool] = [:]
    var asking: Set<Asking> = []
    var open: [ChannelKey: OpenChannel] = [:]
    /// What came over channels that are closed, and was not received yet.
    var unread: [ChannelKey: [[UInt8]]] = [:]
    var lastNumber: UInt64 = 0

    func key(of link: UInt16, own: UInt16) -> ChannelKey? {
        open.keys.first { $0.link == link && $0.channel == own }
    }

    func key(of link: UInt16, peer: UInt16) -> ChannelKey? {
        open.first { $0.key.link == link && $0.value.peer == peer }?.key
    }

    /// A channel identifier that the link has free.
    func freeChannel(of link: UInt16) -> UInt16? {
        let used = Set(open.keys.filter { $0.link == link }.map(\.channel))
        guard used.count < Self.limit else { return nil }
        return L2CAPFrame.Channel.dynamic.first {
            !used.contains($0) && !asking.contains(Asking(link: link, own: $0))
        }
    }
}
