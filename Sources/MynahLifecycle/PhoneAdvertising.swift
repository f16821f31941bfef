import MynahCore

/// The rules by which an iPhone composes its apps' advertising, as captured on the air.
///
/// Apple documents 28 bytes for the initial advertisement, in any mix of name and UUIDs, and 10 more in the
/// scan response for the name, "not including the 2 bytes of header". In every capture, both figures include
/// the headers, so they do here: 31 − 3 bytes of Flags, and 31 − 21 bytes of the overflow area.
public struct PhoneAdvertising: Hashable, Sendable {
    /// The location of the overflow area while all apps are in the background.
    package var placement: OverflowPlacement
    /// The advertising interval in the foreground.
    ///
    /// The value is an assumption: there is no published measurement.
    package var foregroundInterval: Duration
    /// The advertising interval in the background, as measured on one iPhone 6 with iOS 11.
    package var backgroundInterval: Duration
    /// Whether changed UUIDs of a background app are advertised only in the foreground, as reported from
    /// iOS 14 on.
    package var defersBackgroundChanges: Bool
    /// The TX power level that is advertised after the Flags, in dBm, or `nil` for none.
    ///
    /// Later iPhones advertise it; 12 dBm was captured.
    package var txPower: Int8?
    /// Apple's Nearby Info, five or six bytes, which is advertised with the overflow area, or `nil` for none.
    package var nearbyInfo: [UInt8]?

    /// The largest random delay on top of the background interval, in steps of 1.25 ms, as measured on
    /// one iPhone 6 with iOS 11.
    package static let backgroundJitter: Duration = .microseconds(6250)
    /// The Flags of every iPhone captured: LE General Discoverable and both simultaneous modes.
    package static let flags: UInt8 = 0x1A
    /// The largest length of the name in the scan response, with its header.
    package static let scanResponseNameCapacity = 10

    /// Makes the rules of an iPhone with this major version of iOS.
    public init(
        iOS version: Int = 17, foregroundInterval: Duration = .milliseconds(30),
        backgroundInterval: Duration = .microseconds(181_250), txPower: Int8? = nil
    ) {
        placement = OverflowPlacement(iOS: version)
        defersBackgroundChanges = IOSVersion(version).defersBackgroundChanges
        self.foregroundInterval = foregroundInterval
        self.backgroundInterval = backgroundInterval
        self.txPower = txPower
    }

    /// Composes the phone's one advertisement, with one overflow area and one name.
    ///
    /// The interval is the longer one only if every advertising app is in the background.
    ///
    /// For an app in the foreground with neither name nor UUID, only the Flags are advertised. This is an
    /// assumption: CoreBluetooth accepts such an advertisement, and nobody has published a capture of one.
    package func compose(_ apps: [AppAdvertisement]) -> PhoneAdvertisement {
        let isForeground = apps.contains { $0.mode == .foreground }
        var composition = AdvertisementComposition(
            headers: headers(isForeground: isForeground), count: apps.count)
        for (index, app) in apps.enumerated() where app.mode == .foreground {
            composition.takeClear(app, index)
        }
        composition.closeLists()
        for (index, app) in apps.enumerated() where app.mode == .foreground {
            composition.takeName(app, index)
        }
        for (index, app) in apps.enumerated() where app.mode == .background {
            composition.takeHidden(app, index)
        }
        if nearbyInfo != nil, let front = apps.firstIndex(where: { $0.mode == .foreground }) {
            composition.omitNearbyInfo(front)
        }
        // Nearby Info and the overflow area together are more than the 31 bytes of one payload.
        let placement = nearbyInfo == nil ? placement : .scanResponse
        let interval =
            isForeground
            ? foregroundInterval...foregroundInterval
            : backgroundInterval...(backgroundInterval + Self.backgroundJitter)
        return PhoneAdvertisement(
            bytes: composition.bytes(isForeground: isForeground, placement: placement), interval: interval,
            overflow: composition.overflow, omitted: composition.omitted)
    }

    /// The AD structures before those of the apps.
    ///
    /// While an app advertises in the foreground, Nearby Info is left out. This is an assumption: no capture
    /// has both, and a 128-bit UUID leaves no room for it.
    private func headers(isForeground: Bool) -> [ADStructure] {
        var headers = [ADStructure(type: .flags, data: [Self.flags])]
        if let txPower { headers.append(.init(type: .txPowerLevel, data: [UInt8(bitPattern: txPower)])) }
        if !isForeground, let nearbyInfo { headers.append(NearbyInfo(nearbyInfo).structure) }
        return headers
    }
}
