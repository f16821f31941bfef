import MynahCore
package import MynahControl
package import MynahEmulator
import MynahProfiles
import MynahSupport

// Adding and removing devices during the run.
extension RunSession: ControlledRun {
    package var radios: [String] { radioName.map { [$0] } ?? [] }

    package var requestNumbers: RequestNumbers? { maker.requestNumbers }

    package var devices: [ControlledDevice] {
        playedRadios.all.flatMap { playing in
            zip(playing.run.devices, playing.run.profiles).map { device, profile in
                var names = DeviceNames.Device(profile, label: device.label)
                names.file = profile.file.withoutDirectory
                return ControlledDevice(names: names, emulator: playing.emulator)
            }
        }
    }

    package func add(_ source: ProfileSource, seed: UInt64?) async throws(ControlProblem) -> String {
        let profile = try load(source)
        guard profile.app != nil else { return try await addRadio(profile, seed) }
        await phoneTurns.wait()
        defer { phoneTurns.end() }
        guard let phone = playedRadios.all.first(where: { $0.run.isPhone(of: profile) }) else {
            return try await addRadio(profile, seed)
        }
        return try await addApp(profile, to: phone, seed)
    }

    package func remove(_ device: ControlledDevice) async throws(ControlProblem) {
        // When the last app is removed, its phone is removed too.
        let turns = device.emulator.playsApps ? phoneTurns : nil
        await turns?.wait()
        defer { turns?.end() }
        let label = device.names.label
        // Another request may have removed the app meanwhile. The phone's other apps stay.
        guard let playing = playedRadios.all.first(where: { $0.emulator === device.emulator }),
            playing.run.devices.contains(where: { $0.label == label })
        else { return }
        guard playing.run.devices.count > 1 else {
            playing.isLeaving.withLock { $0 = true }
            await stopTurns.wait()
            defer { stopTurns.end() }
            await playing.emulator.removeLast(label)
            return drop(playing)
        }
        do throws(RadioError) {
            try await playing.emulator.remove(label)
        } catch {
            throw ControlProblem(409, error.description)
        }
        _ = playedRadios.change(playing.index) { run, _ in run.forget(label) }
        changeKeys(of: playing)
    }

    package func awaitEvents() async { await maker.writer.settle() }

    /// Adds an accessory, or the first app of a phone, on a new radio; returns its name in events.
    private func addRadio(_ profile: Profile, _ seed: UInt64?) async throws(ControlProblem) -> String {
        let new: Playing?
        do throws(RadioError) {
            new = try append { [maker, clock] index, labels, radios throws(RadioError) in
                let label = DeviceLabels.next(profile.name, after: labels)
                try radios.checkHasRoom(for: index)
                let run = maker.run([profile], labels: [label], seed: seed)
                return try Playing(index, run, on: radios, try maker.stateDirectory(of: profile), clock)
            }
        } catch {
            throw ControlProblem(409, error.description)
        }
        guard let new else { throw ControlProblem(409, "the run is starting or ending; try again") }
        let check = RadioCheck(print: outputs.print)
        do throws(RadioError) {
            try await start(new, check)
        } catch {
            await new.emulator.stop()
            drop(new)
            throw Self.problem(error, check)
        }
        return new.run.devices[0].label
    }

    /// Adds an app to a phone that is already being played; returns its name in events.
    private func addApp(
        _ profile: Profile, to phone: Playing, _ seed: UInt64?
    ) async throws(ControlProblem) -> String {
        let apps = phone.run.profiles.map { app in
            var app = app
            app.file = app.file.withoutDirectory
            return app
        }
        let issues = RunGroups(apps + [profile]).issues
        // The profile itself is valid: it conflicts only with the other apps.
        guard issues.isEmpty else { throw ControlProblem(issues, status: 409) }
        guard phone.run.phone != nil || profile.phone?.services.isEmpty != false else {
            throw ControlProblem(
                409,
                "the phone plays already, and without services of its own: phone.services has to be in a "
                    + "profile that it begins with")
        }
        let device = playedRadios.change(phone.index) { [maker] run, labels in
            let label = DeviceLabels.next(profile.name, after: labels)
            let device = maker.device(profile, label: label, seed: seed)
            run.devices.append(device)
            run.profiles.append(profile)
            return device
        }
        guard let device else { throw ControlProblem(409, "the phone is being removed") }
        let check = RadioCheck(print: outputs.print)
        do throws(RadioError) {
            try await phone.emulator.add(device) { capabilities throws(RadioError) in
                try check.check([profile], capabilities, phone.emulator.faultSupport)
            }
        } catch {
            _ = playedRadios.change(phone.index) { run, _ in run.forget(device.label) }
            throw Self.problem(error, check)
        }
        changeKeys(of: phone)
        return device.label
    }

    /// Updates the keys after the apps of a phone have changed.
    private func changeKeys(of phone: Playing) {
        guard let now = playedRadios.all.first(where: { $0.index == phone.index }) else { return }
        outputs.keys?.change(now.emulator, apps: now.run.apps)
    }

    // MARK: Profiles

    private func load(_ source: ProfileSource) throws(ControlProblem) -> Profile {
        var profile: Profile
        do throws(ProfileIssues) {
            switch source {
            case .object(let object): profile = try ProfileLoader.load(object, name: "profile")
            case .file(let path): profile = try ProfileLoader.load(regularFile: path)
            }
        } catch {
            throw ControlProblem(error.issues)
        }
        profile.file = profile.file.withoutDirectory
        return profile
    }

    /// The problem of a device that cannot be played, with the profile's issues if there are any.
    private static func problem(_ error: RadioError, _ check: RadioCheck) -> ControlProblem {
        let shortcomings = check.shortcomings
        guard !shortcomings.isEmpty else { return ControlProblem(409, error.description) }
        return ControlProblem(shortcomings, status: 409)
    }
}

extension ControlProblem {
    /// Makes the problem of a profile that cannot be played, with its issues.
    fileprivate init(_ issues: [ProfileIssue], status: Int = 400) {
        self.init(
            status,
            "the profile cannot be played: \(issues.first { $0.severity == .error }?.message ?? "")",
            [.init("issues", .array(issues.map(\.problemMember)))])
    }
}

extension ProfileIssue {
    fileprivate var problemMember: JSON {
        var members: [JSON.Member] = [
            .init("severity", .string(severity.rawValue)), .init("message", .string(message)),
        ]
        if let path { members.append(.init("path", .string(path))) }
        if let mark {
            members += [.init("line", .integer(mark.line)), .init("column", .integer(mark.column))]
        }
        return .object(members)
    }
}

extension String {
    /// The file name without its directory, which clients of the API must not see.
    fileprivate var withoutDirectory: String { split(separator: "/").last.map(String.init) ?? self }
}
