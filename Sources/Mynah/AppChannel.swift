import MynahCore

/// An L2CAP channel of an app: while the app is suspended, sending and receiving wait until it runs again.
///
/// A channel neither keeps an app from suspension nor wakes it "like GATT does" (Apple, developer forums,
/// thread 746286). It is an assumption that the channel stays open while the app is suspended, and that the
/// central stops sending when it has no credits left.
final class AppChannel: L2CAPChannel {
    private let channel: any L2CAPChannel
    private let app: App

    init(_ channel: any L2CAPChannel, of app: App) {
        self.channel = channel
        self.app = app
    }

    var psm: UInt16 { channel.psm }
    var peer: Peer.ID { channel.peer }
    var maximumLength: Int { channel.maximumLength }

    func send(_ bytes: [UInt8]) async throws(RadioError) {
        await app.waitWhileSuspended()
        try await channel.send(bytes)
    }

    func receive() async -> [UInt8]? {
        await app.waitWhileSuspended()
        let next = await channel.receive()
        // The app may have been suspended since the read began.
        await app.waitWhileSuspended()
        return next
    }

    func close() async {
        await app.waitWhileSuspended()
        await channel.close()
    }
}
