import MynahCore
import MynahLifecycle

/// The advertisement that the manager of an app requests, whether or not it is on the air.
struct RequestedAdvertisement {
    /// The last request, or `nil` if there is none.
    private(set) var advertisement: Advertisement?
    /// The UUIDs that were last on the air, or `nil` if none were.
    private var settledUUIDs: [BluetoothUUID]?
    /// Whether advertising was stopped after `settledUUIDs` was set.
    private var wasStopped = false

    /// A preserved request.
    init(preserved advertisement: Advertisement? = nil) {
        self.advertisement = advertisement
        settledUUIDs = advertisement?.serviceUUIDs
    }

    mutating func start(_ new: Advertisement, isInForeground: Bool) {
        advertisement = new
        if isInForeground { settleUUIDs() }
    }

    mutating func stop() {
        advertisement = nil
        wasStopped = true
    }

    /// Returns the manager's part of the phone's advertisement, or `nil` if there is no request.
    mutating func part(_ mode: AdvertisingMode, deferringChanges: Bool) -> AppAdvertisement? {
        guard let advertisement else { return nil }
        var uuids = advertisement.serviceUUIDs
        switch mode {
        case .off: break
        case .foreground: settleUUIDs()
        case .background:
            if deferringChanges, let settledUUIDs {
                uuids = wasStopped ? uuids.filter(settledUUIDs.contains) : settledUUIDs
            } else {
                settleUUIDs()
            }
        }
        return AppAdvertisement(localName: advertisement.localName, serviceUUIDs: uuids, mode: mode)
    }

    /// Records that the requested UUIDs are on the air.
    private mutating func settleUUIDs() {
        settledUUIDs = advertisement?.serviceUUIDs
        wasStopped = false
    }

    /// The omissions to report for UUIDs that are not advertised until the app is in the foreground.
    func deferred(in part: AppAdvertisement) -> [AdvertisingReport.Omission] {
        guard part.mode == .background, let advertisement else { return [] }
        return advertisement.serviceUUIDs.enumerated().filter { !part.serviceUUIDs.contains($0.element) }.map
        {
            .init(
                item: "serviceUUIDs[\($0.offset)]",
                reason: "it was changed in the background; from iOS 14 on the change waits for the foreground"
            )
        }
    }
}

extension Advertisement {
    /// Throws `advertisementRefused` if the advertisement sets a field that no app can set.
    func checkIsApps(_ name: String) throws(RadioError) {
        guard let field = fieldBeyondApps else { return }
        throw RadioError(
            .advertisementRefused,
            "the app \(name) cannot advertise \(field): CoreBluetooth takes a local name and service UUIDs")
    }

    /// The name of a field that is set although no app can set it, or `nil` if there is none.
    private var fieldBeyondApps: String? {
        if flags != Self.usualFlags { return "flags" }
        if !otherSets.isEmpty { return "several sets" }
        if scanResponse != Contents() { return "scanResponse" }
        if extended != nil { return "extended" }
        if address != nil { return "address" }
        if !isScannable { return "scannable" }
        return data.fieldBeyondApps ?? (interval != nil ? "interval" : exact != nil ? "exact" : nil)
            ?? (isConnectable ? nil : "connectable")
    }
}

extension Advertisement.Contents {
    fileprivate var fieldBeyondApps: String? {
        if !incompleteServiceUUIDs.isEmpty { return "an incomplete list of services" }
        if !solicitedServiceUUIDs.isEmpty { return "solicitedServiceUUIDs" }
        if !manufacturerData.isEmpty { return "manufacturerData" }
        if !serviceData.isEmpty { return "serviceData" }
        if appearance != nil { return "appearance" }
        if txPower != nil { return "txPower" }
        return raw.isEmpty ? nil : "raw"
    }
}
