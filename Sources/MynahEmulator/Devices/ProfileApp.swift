package import Mynah
import MynahCore
public import MynahLifecycle
public import MynahProfiles
import MynahSupport

extension AppRules {
    /// Makes the rules for the app that a profile declares.
    public init(_ app: Profile.App) {
        self.init()
        backgroundModes = Set(app.backgroundModes)
        isRestorable = app.restoreIdentifier != nil
        suspendAfter = app.suspendAfter
        taskTime = app.taskTime
        keepsPrivileges = app.keepsPrivileges
        isRelaunchedAfterQuit = IOSVersion(app.iOS).relaunch(after: .quit)
            .allowsRelaunch(withAccessorySetup: app.usesAccessorySetup)
    }
}

extension PhoneAdvertising {
    /// Makes the phone of a profile's app.
    public init(_ app: Profile.App) {
        self.init(
            iOS: app.iOS, foregroundInterval: app.foregroundInterval,
            backgroundInterval: app.backgroundInterval, txPower: app.txPower)
        nearbyInfo = app.nearbyInfo
    }
}

extension AppAdvertisement {
    /// Makes an app's advertising request from a profile's advertisement.
    public init(_ advertising: Profile.Advertising, mode: AdvertisingMode) {
        self.init(
            localName: advertising.advertisement.localName,
            serviceUUIDs: advertising.advertisement.serviceUUIDs, mode: mode)
    }
}

extension Profile {
    /// Returns the advertising of a phone whose only app is in this state, or `nil` for an accessory's
    /// profile.
    ///
    /// `AppLifecycle` determines it, as if the app had been launched with Bluetooth powered on and had then
    /// entered the state.
    package func phoneAdvertisement(in state: App.StartState) -> PhoneAdvertisement? {
        guard let app else { return nil }
        let phone = PhoneAdvertising(app)
        guard let advertising else { return phone.compose([]) }
        var life = AppLifecycle<RunClock.Instant>(AppRules(app))
        var events: [AppEvent] = [.radioState(.poweredOn), .transition(.enterForeground)]
        switch state {
        case .foreground: break
        case .background: events.append(.transition(.enterBackground))
        case .suspended: events += [.transition(.enterBackground), .transition(.suspend)]
        }
        for event in events { _ = life.handle(event, at: RunClock.Instant(offset: .zero)) }
        let requested = AppAdvertisement(advertising, mode: life.advertisingMode)
        var plan = phone.compose([requested])
        if requested.mode == .off {
            let reason =
                "a background app cannot advertise without the background mode bluetooth-peripheral"
            plan.omitted = [
                (requested.localName == nil ? [] : ["localName"])
                    + requested.serviceUUIDs.indices.map { "serviceUUIDs[\($0)]" }
            ].map { $0.map { .init(item: $0, reason: reason) } }
        }
        return plan
    }

    /// Returns the scans of a phone whose only app is in this state, one for each central manager that
    /// scans.
    package func phoneScans(in state: App.StartState) -> [ScanStatus] {
        guard let app else { return [] }
        let appState: AppState =
            switch state {
            case .foreground: .foreground
            case .background: .background
            case .suspended: .suspended
            }
        let requests = centrals.compactMap { central in
            central.scan.map { scan in
                AppScan(
                    services: scan.services, solicited: scan.solicited,
                    allowsDuplicates: scan.allowsDuplicates,
                    mode: ScanMode(
                        scanIn: appState, AppRules(app), isRestorable: central.restoreIdentifier != nil,
                        radioState: .poweredOn))
            }
        }
        let options = PhoneScanning().compose(requests).options
        return requests.map { ScanStatus($0, options: options) }
    }
}
