import Mynah
import MynahCore
import MynahProfiles
import MynahSupport

/// An app's conversation on an L2CAP channel: it sends what its profile has, and reports what comes.
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

    /// Returns when the channel is closed; `peer` has the other side.
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
                // The end of the channel is an event of its own.
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
    /// Its app publishes its channel, unless it has none.
    func publishChannel() {
        emulator.enqueue { [index] in await $0.publishChannel(of: index) }
    }

    /// A central has opened a channel to its app.
    func opened(_ channel: any L2CAPChannel, by central: Central) {
        emulator.enqueue { [index] emulator in
            guard let player = emulator.player(index) else { return }
            var peer = EventPayload.ChannelUse()
            peer.central = EventCentral(central)
            let talk = ChannelTalk(on: channel, greeting: player.device.app?.channel?.greeting) {
                if let player = emulator.player(index) {
                    player.events.report($0, $1, isQueued: player.appSide.isDeliveringQueued)
                }
            }
            await talk.run(with: peer)
        }
    }
}

extension Emulator {
    /// Publishes the channel of a player's app, whose PSM reads of its characteristic return.
    fileprivate func publishChannel(of index: Int) async {
        guard await phone.capabilities?.publishesL2CAPChannels == true, let player = player(index),
            let own = player.device.app?.channel, player.appSide.psm == nil, let manager = player.manager
        else { return }
        do throws(RadioError) {
            let psm = try await manager.publishL2CAPChannel(withEncryption: own.isEncrypted)
            if manager === player.manager { player.appSide.psm = psm }
        } catch {
            // The end of the app has been reported.
            guard isRunning, error.code != .invalidState else { return }
            player.events.warn("channelNotPublished", "\(error)")
        }
    }
}

extension AppSide {
    /// The outcome of a read of the device's characteristic with the PSM of its channel; `nil` of any other.
    func readPSM(_ request: ReadRequest, of device: EmulatedDevice) -> PendingReply.Outcome? {
        guard request.attribute == device.psm, let psm else { return nil }
        let bytes = [UInt8(truncatingIfNeeded: psm), UInt8(psm >> 8)]
        guard (0...bytes.count).contains(request.offset) else { return .failure(.invalidOffset) }
        return .success(Array(bytes[request.offset...]))
    }
}

extension PeripheralWork {
    /// The PSM in a characteristic's value, or `nil` if it is none.
    static func psm(in value: [UInt8]) -> UInt16? {
        value.count == 2 ? UInt16(value[0]) | UInt16(value[1]) << 8 : nil
    }
}
