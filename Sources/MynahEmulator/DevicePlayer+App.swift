import Mynah
import MynahCore
import MynahLifecycle
import MynahSupport

// The app that plays the device.
extension DevicePlayer {
    /// Makes the app and opens it, as its user would.
    func launch() {
        guard let emulated = device.app, app == nil else { return }
        let clock = clock
        let app = phone.assumeIsolated { $0.makeApp(emulated.description, delegate: self, clock: clock) }
        self.app = app
        app.assumeIsolated { $0.enterForeground() }
    }

    func carryOut(_ transition: AppTransition) {
        app?.assumeIsolated { app in
            switch transition {
            case .foreground: app.enterForeground()
            case .background: app.enterBackground()
            case .suspended: app.suspend()
            case .terminated: app.terminate()
            case .quit: app.quit()
            case .memoryPressure: app.receiveMemoryPressure()
            case .crash: app.crash()
            }
        }
    }

    /// Takes what the system kept; what it cannot use is replaced when the Bluetooth state is known.
    func restore(_ state: RestoredState) {
        tellRestored(state)
        guard !state.services.isEmpty else { return }
        guard let mapping = device.services.keys(in: state.services) else {
            teller.tell(
                .warning,
                [
                    .init("code", .string("restoredServicesDiffer")),
                    .init(
                        "message",
                        .string("the restored services are not the profile's, and are published anew")),
                ])
            isRestoredOther = true
            return
        }
        device = device.rekeyed(mapping)
        table = device.table
        isPublished = state.advertisement == device.advertisement
    }

    private func tellRestored(_ state: RestoredState) {
        let identifier = device.app?.description.restoreIdentifiers.first ?? ""
        var uuids: [AttributeKey: (service: BluetoothUUID, characteristic: BluetoothUUID)] = [:]
        for service in state.services {
            for characteristic in service.characteristics {
                uuids[characteristic.key] = (service.uuid, characteristic.uuid)
            }
        }
        let subscribers = state.subscribers.compactMap { subscriber -> JSON? in
            guard let uuid = uuids[subscriber.attribute] else { return nil }
            return .object([
                .init("central", subscriber.address.map { .string($0.description) } ?? .null),
                .init("service", .string(uuid.service.description)),
                .init("characteristic", .string(uuid.characteristic.description)),
                .init("live", .bool(subscriber.isLive)),
            ])
        }
        teller.tell(
            .appRestored,
            [
                .init("restoreIdentifier", .string(identifier)),
                .init("services", .array(state.services.map { .string($0.uuid.description) })),
                .init("advertising", .bool(state.advertisement != nil)),
                .init("subscribers", .array(subscribers)),
            ])
    }
}

extension DevicePlayer: AppDelegate {
    nonisolated func app(_ app: App, didFinishLaunching options: LaunchOptions) {
        assumeIsolated { player in
            player.app = app
            player.finishLaunching(options)
        }
    }

    nonisolated func app(_ app: App, didChange change: AppChange) {
        assumeIsolated { $0.take(change) }
    }

    private func finishLaunching(_ options: LaunchOptions) {
        teller.tell(
            .appLaunched,
            [
                .init("restoreIdentifiers", .array(options.restoreIdentifiers.map { .string($0) })),
                .init("inBackground", .bool(options.isInBackground)),
            ])
        // Its memory is gone: what was written to it is as the profile has it.
        table = device.table
        isPublished = false
        isIntroducing = true
        let identifier = device.app?.description.restoreIdentifiers.first
        let made: Result<PeripheralManager, RadioError>? = app?.assumeIsolated { app in
            do throws(RadioError) {
                return .success(try app.makePeripheralManager(restoreIdentifier: identifier, sink: self))
            } catch {
                return .failure(error)
            }
        }
        switch made {
        case .success(let manager): self.manager = manager
        case .failure(let error): teller.tell(.error, [.init("message", .string(error.description))])
        case nil: break
        }
    }

    private func take(_ change: AppChange) {
        switch change {
        case .enteredForeground:
            teller.tell(.appForeground)
            resumeTicking()
        case .enteredBackground:
            teller.tell(.appBackground)
        case .suspended:
            stopTicking()
            teller.tell(.appSuspended)
        case .woken(let kind, let attribute, let central):
            wokenFor = attribute.map { [$0] } ?? []
            toldExtraneous = []
            let cause = JSON.Member("by", .string(kind.rawValue))
            if let attribute {
                tell(.appWoken, on: attribute, central) { [cause] }
            } else {
                teller.tell(.appWoken, [cause])
            }
            resumeTicking()
        case .throttled:
            stopTicking()
            teller.tell(.appThrottled)
        case .extraneous(let attribute):
            if let attribute {
                tell(.appExtraneous, on: attribute, nil) { [] }
            } else {
                teller.tell(.appExtraneous)
            }
        case .terminated(let reason):
            end()
            teller.tell(.appTerminated, [.init("reason", .string(reason.rawValue))])
        case .quit:
            end()
            teller.tell(.appQuit)
        }
    }

    private func end() {
        stopTicking()
        manager = nil
        isPublished = false
    }
}
