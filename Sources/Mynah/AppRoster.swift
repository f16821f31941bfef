import MynahLifecycle

/// The managers of an app, of both roles.
struct AppRoster {
    let peripheral = AppManagers()
    let central = AppCentrals()

    /// The names under which the states of the app's managers may be preserved, without duplicates.
    func preservedNames(of app: AppDescription) -> [PreservedName] {
        let peripherals = app.restoreIdentifiers + peripheral.all.compactMap(\.restoreIdentifier)
        let centrals = app.centralRestoreIdentifiers + central.all.compactMap(\.restoreIdentifier)
        let names =
            peripherals.map { PreservedName(app: app.name, restoreIdentifier: $0) }
            + centrals.map { PreservedName(app: app.name, restoreIdentifier: $0, role: .central) }
        var seen: Set<PreservedName> = []
        return names.filter { seen.insert($0).inserted }
    }
}

/// The events that wait for an app, and the requests that wait for its answers.
struct AppMail {
    var queue = AppQueue()
    var replies = LateReplies()
    /// Whether the event that is being delivered was queued because the app was not running.
    var hasWaited = false
}
