import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// An app's communication on an L2CAP channel: it sends the profile's data, and reports received data.
struct ChannelTalk {
    private let channel: any L2CAPChannel
    private let greeting: [UInt8]?
    private let report: (DeviceEvent.Name, EventPayload) -> Void

    init(
        on channel: any L2CAPChannel, greeting: [UInt8]?,
        report: @escaping (DeviceEvent.Name, EventPayload) -> Void
    ) {
        self.channel = channel
        self.greeting = greeting
        self.report = report
    }

    /// Sends and receives until the channel is closed; `peer` describes the other side for events.
    func run(with peer: EventPayload.ChannelUse) async {
        func report(_ name: DeviceEvent.Name, _ value: [UInt8]? = nil) {
            var use = peer
            use.psm = Int(channel.psm)
            use.value = value
            self.report(name, .channel(use))
        }
        report(.channelOpened)
        if let greeting {
            do throws(RadioError) {
                try await channel.send(greeting)
                report(.channelSent, greeting)
            } catch {
                // The end of the channel is reported as an event of its own.
                if error.code != .disconnected {
                    self.report(.error, .notice(.init(error.description, peer.peripheral)))
                }
            }
        }
        while let value = await channel.receive() { report(.channelReceived, value) }
        report(.channelClosed)
    }
}

extension PlayerLink {
    /// Publishes the app's channel, if it has one.
    func publishChannel() {
        emulator.enqueue { [index] in await $0.control.apps.publishChannel(of: index) }
    }

    /// Handles a channel that a central has opened to the app.
    func opened(_ channel: any L2CAPChannel, by central: Central) {
        emulator.enqueue { [index] emulator in
            guard let player = emulator.player(index) else { return }
            var peer = EventPayload.ChannelUse()
            peer.central = EventCentral(central)
            let talk = ChannelTalk(on: channel, greeting: player.memory.device.app?.channel?.greeting) {
                if let player = emulator.player(index) {
                    player.events.report($0, $1, isQueued: player.memory.appSide.isDeliveringQueued)
                }
            }
            await talk.run(with: peer)
        }
    }
}

extension AppControl {
    /// Publishes the channel of a player's app, and stores its PSM for reads.
    ///
    /// Then answers the reads that have waited for the PSM, even if publishing failed.
    fileprivate func publishChannel(of index: Int) async {
        let canPublish = await phone.capabilities?.publishesL2CAPChannels == true
        guard let player = devices.player(index), player.memory.appSide.channel.psm == nil,
            let manager = player.manager
        else { return }
        var psm: UInt16?
        defer {
            // If the app was launched again, its new process publishes its own channel.
            if manager === player.manager {
                for read in player.memory.appSide.channel.settle(psm) {
                    read.reply.answer(player.pipeline.answer(read.request, read.central))
                }
            }
        }
        guard canPublish, let own = player.memory.device.app?.channel else { return }
        do throws(RadioError) {
            psm = try await manager.publishL2CAPChannel(withEncryption: own.isEncrypted)
        } catch {
            // The end of the app was already reported.
            guard devices.isRunning, error.code != .invalidState else { return }
            player.events.warn("channelNotPublished", "\(error)")
        }
    }
}

/// The L2CAP channel that an app's process publishes, with the reads that wait for its PSM.
///
/// iOS gives an app the PSM in a callback (`peripheralManager(_:didPublishL2CAPChannel:error:)`), and the
/// app may answer a read at any time. It is an assumption that the app's answer waits for the PSM.
struct ChannelPublication {
    /// A pending read of the characteristic that holds the PSM.
    struct Read {
        let request: ReadRequest
        let central: Central
        let reply: PendingReply
    }

    /// The PSM, or `nil` if the channel is not published.
    private(set) var psm: UInt16?
    /// Whether the process will publish a channel, but has not tried yet.
    private var isAwaited: Bool
    private var reads: [Read] = []

    init(isAwaited: Bool = false) {
        self.isAwaited = isAwaited
    }

    /// Queues a read until the PSM is known.
    ///
    /// Returns `nil` if the app will not publish a channel, or has already tried to.
    mutating func wait(with request: ReadRequest, _ central: Central) -> PendingAnswer? {
        guard isAwaited else { return nil }
        let reply = PendingReply()
        reads.append(Read(request: request, central: central, reply: reply))
        return reply.pending
    }

    /// Stores the PSM, or `nil` if publishing failed; returns the reads that have waited.
    mutating func settle(_ psm: UInt16?) -> [Read] {
        self.psm = psm
        isAwaited = false
        defer { reads = [] }
        return reads
    }

    /// Discards the reads of a central whose link has ended.
    mutating func forget(_ central: Central.ID) {
        reads.removeAll { $0.central.id == central }
    }
}

extension AppSide {
    /// Answers a read of the characteristic that holds the channel's PSM; returns `nil` for any other read.
    func readPSM(_ request: ReadRequest, of device: EmulatedDevice) -> PendingReply.Outcome? {
        guard request.attribute == device.responses.psm, let psm = channel.psm else { return nil }
        let bytes = [UInt8(truncatingIfNeeded: psm), UInt8(psm >> 8)]
        guard (0...bytes.count).contains(request.offset) else { return .failure(.invalidOffset) }
        return .success(Array(bytes[request.offset...]))
    }
}

extension PeripheralWork {
    /// Parses the PSM from a characteristic's value; returns `nil` if the value is not a PSM.
    static func psm(in value: [UInt8]) -> UInt16? {
        value.count == 2 ? UInt16(value[0]) | UInt16(value[1]) << 8 : nil
    }
}
