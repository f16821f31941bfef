import Logging
import MynahCore
import MynahDBus

// What bluetoothd tells of itself, and coming back when it was gone.
extension BlueZRadio {
    func ownerChanged(to owner: String?) {
        let had = hasOwner
        hasOwner = owner != nil
        isLeaving = false
        guard life.state != .starting, life.state != .stopping else { return }
        if had, owner != nil {
            // Another daemon took the name without a gap that we saw.
            hasOwner = false
            lookAround()
            hasOwner = true
        }
        if owner == nil { objects.removeAll() }
        if owner != nil { relearn() } else { lookAround() }
    }

    /// A daemon that has just started tells what it has by signals too; asking catches what came before we listened.
    private func relearn() {
        Task {
            await attempt { () throws(RadioError) in try await learnObjects() }
            lookAround()
        }
    }

    func busEnded() {
        hasOwner = false
        objects.removeAll()
        guard life.state != .stopping, life.state != .stopped else { return }
        lookAround()
        // Nobody tells when a bus is back: it is tried again now and then.
        timers?.retry.schedule(after: .seconds(2))
    }

    func objectsChanged(_ message: DBusMessage) {
        guard let values = try? message.values(), values.count == 2,
            let path = values[0].objectPathValue?.string
        else {
            return
        }
        let before = objects.devices[path]
        if message.isMember("InterfacesAdded") {
            objects.add(path, values[1])
        } else if message.isMember("InterfacesRemoved") {
            objects.remove(path, values[1].stringsValue ?? [])
        }
        deviceChanged(path, from: before)
        adapterChanged()
        lookAround()
    }

    func propertiesChanged(_ message: DBusMessage) {
        guard let path = message.path?.string, let values = try? message.values(), values.count == 3,
            let interface = values[0].stringValue
        else { return }
        let before = objects.devices[path]
        objects.change(path, interface, values[1])
        if interface == BlueZ.device { deviceChanged(path, from: before) }
        if interface == BlueZ.adapter {
            adapterChanged()
            lookAround()
        }
    }

    /// Compares what there is with what we need.
    func lookAround() {
        carryOut(life.handle(.missing(missing)))
    }

    private var missing: RadioLife.Cause? {
        guard hasOwner, !isLeaving, connection?.isClosed == false else { return .daemon }
        guard let adapter else { return nil }
        guard let (path, state) = objects.adapters.first(where: { $0.value.address == adapter.address }),
            state.isComplete
        else { return .adapter }
        if path != adapter.path.string, let path = try? ObjectPath(path) {
            self.adapter = (path, adapter.address)
        }
        return state.isPowered ? nil : .power
    }

    /// Before its objects go one by one, which would look like an adapter that is pulled out.
    func daemonLeaves() {
        guard life.state == .running else { return }
        isLeaving = true
        lookAround()
        // Should it stay after all.
        timers?.retry.schedule(after: .seconds(3))
    }

    func retry() {
        if isLeaving {
            isLeaving = false
            lookAround()
        }
        carryOut(life.handle(.retry))
    }

    func carryOut(_ actions: [RadioLife.Action]) {
        for action in actions {
            switch action {
            case .forget(let cause): forget(cause)
            case .tellLost(let cause): tell(.lost(Self.error(of: cause)))
            case .tellState(let state): tell(.stateChanged(state))
            case .tellRecovered: tell(.recovered)
            case .pause: timers?.retry.schedule(after: .seconds(1))
            case .recover(let attempt): Task { await recover(attempt) }
            }
        }
        // A retry that finds the bus still closed has nothing to wait for but the next one.
        if case .lost(.daemon) = life.state, connection?.isClosed == true {
            Task { await reconnect() }
        }
    }

    private static func error(of cause: RadioLife.Cause) -> RadioError {
        switch cause {
        case .daemon:
            RadioError(
                .lost, "bluetoothd is gone",
                remedy: "it is used again when it is back: systemctl start bluetooth")
        case .adapter: RadioError(.lost, "the adapter is gone", remedy: "it is used again when it is back")
        case .power: RadioError(.lost, "the adapter was turned off", remedy: "bluetoothctl power on")
        }
    }

    private func forget(_ cause: RadioLife.Cause) {
        forgetSockets()
        for peer in peers.removeAll() { tell(.disconnected(peer)) }
        for key in Array(attributes.keys) {
            if attributes[key]?.isToldSubscribed == true { tell(.unsubscribed(key, nil)) }
            attributes[key]?.isToldSubscribed = false
            // Registrations outlive a power cycle, and so do the subscriptions of bonded centrals.
            if cause != .power { attributes[key]?.isSubscribed = false }
        }
        if isFull { owesReady = true }
        isFull = false
        switch cause {
        case .daemon:
            isAgentRegistered = false
            forgetRegistrations()
        case .adapter:
            forgetRegistrations()
        case .power:
            advertising.poweredOff()
        }
    }

    func forgetRegistrations() {
        for id in Array(batches.keys) { batches[id]?.isRegistered = false }
        advertising.forget()
    }

    /// Registers everything again.
    private func recover(_ attempt: Int) async {
        do throws(RadioError) {
            try await prepareAdapter()
            for id in batches.keys.sorted(by: { $0.rawValue < $1.rawValue })
            where batches[id]?.isRegistered == false {
                try await register(id)
            }
            try checkWanted()
            advertising.reached()
            try await settleAdvertisement()
            version = await learnVersion()
            let new = currentCapabilities()
            if new != capabilities {
                capabilities = new
                tell(.capabilitiesChanged(new))
            }
            carryOut(life.handle(.recovered(attempt: attempt)))
            guard life.state == .running else { return }
            if let report = advertising.shownReport { tell(.advertisingChanged(addressed(report))) }
            lookAtDevices()
            if owesReady {
                owesReady = false
                tell(.readyToSend)
            }
        } catch {
            logger.info("not back yet", metadata: ["error": "\(error)"])
            carryOut(life.handle(.recoveryFailed(attempt: attempt)))
        }
    }

    private func reconnect() async {
        guard let closed = connection, closed.isClosed else { return }
        // One attempt at a time.
        connection = nil
        do throws(RadioError) {
            try await connect()
            for batch in batches.values { try export(batch.tree) }
        } catch {
            if life.state == .stopping || life.state == .stopped { return }
            if connection == nil { connection = closed }
            timers?.retry.schedule(after: .seconds(2))
            return
        }
        // A bluetoothd that is not there yet may be started by being asked; else its name tells when it comes.
        await attempt { () throws(RadioError) in try await learnObjects() }
        lookAround()
    }
}
