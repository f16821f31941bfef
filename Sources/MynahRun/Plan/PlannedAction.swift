package import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// A change planned by `--at`: a time after the start, a device, and an effect.
package struct PlannedAction: Hashable, Sendable {
    /// The problem of a text that is not a valid plan.
    package struct Problem: Error, Hashable, Sendable {
        package var message: String
    }

    /// The change.
    package enum Effect: Hashable, Sendable {
        /// An action of the user on an app.
        case action(UserAction)
        /// A change of a device's distance.
        case range(RangeChange)
    }

    /// The time from when every device of the run is ready.
    package let delay: Duration
    package let effect: Effect
    /// The device's name as written, or `nil` if there is none.
    let name: String?
    private let text: String

    /// Parses `10s=background` or `10s=Lock app:background`.
    package init(parsing text: String) throws(Problem) {
        self.text = text
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2 else {
            throw Problem(
                message: "--at needs a time and a state, as in --at 10s=background, not \"\(text)\"")
        }
        guard !parts[0].hasPrefix("-") else {
            throw Problem(message: "--at \(text): the time \(parts[0]) is before the start of the run")
        }
        do throws(DurationText.Problem) {
            delay = try DurationText.parse(parts[0])
        } catch {
            throw Problem(message: "--at \(text): the time \(error.message)")
        }
        // A name may have a colon in it, and no state has one; the text of an alert may.
        let start = Self.alert(in: parts[1])
        let colon = (start.map { parts[1][..<$0] } ?? parts[1][...]).lastIndex(of: ":")
        name = colon.map { String(parts[1][..<$0]) }
        if name?.isEmpty == true { throw Problem(message: "--at \(text): there is no name before the colon") }
        effect = try Self.effect(colon.map { String(parts[1][$0...].dropFirst()) } ?? parts[1], in: text)
    }

    /// The beginning of `alert TEXT`, at the start of the text or after a name.
    private static func alert(in text: String) -> String.Index? {
        let word = UserAction.alertPrefix
        if text.hasPrefix(word) { return text.startIndex }
        return text.indices.first { text[$0...].hasPrefix(":" + word) }.map { text.index(after: $0) }
    }

    private static func effect(_ phrase: String, in text: String) throws(Problem) -> Effect {
        if phrase.hasPrefix(UserAction.alertPrefix), let action = UserAction(phrase) {
            if case .alert(let message) = action { try check(alert: message) }
            return .action(action)
        }
        if let change = RangeChange(phrase) { return .range(change) }
        let word = phrase.filter { $0 != " " }
        if let action = UserAction(word) { return .action(action) }
        if word.hasPrefix("distance") {
            throw Problem(message: "--at \(text): write a distance in metres, as in distance 5 m")
        }
        let near = NearestName.of(word, among: UserAction.words + RangeChange.words)
        let hint =
            near.map { "; did you mean \($0)?" }
            ?? "; the states are \((UserAction.words + RangeChange.words).joined(separator: ", "))"
        throw Problem(message: "--at \(text): there is no state \"\(word)\"\(hint)")
    }

    /// Throws if a text exceeds the limits of a profile's notification.
    private static func check(alert message: String) throws(Problem) {
        let notification: [JSON.Member] = [.init("app", "mynah"), .init("message", .string(message))]
        do throws(ProfileIssues) {
            _ = try ProfileLoader.notification(.object(notification), name: "--at")
        } catch {
            throw Problem(message: "--at: the text of alert: \(error.issues.first?.message ?? "is invalid")")
        }
    }

    /// `true` if the action is for an app, and not for a radio or for the distance of a device.
    package var isOfApp: Bool {
        if case .action(let action) = effect { !action.isAboutRadio } else { false }
    }

    /// The error of a run without apps.
    package var lacksApp: String {
        let others = UserAction.words.filter { UserAction($0)?.isAboutRadio == true } + RangeChange.words
        return "--at \(text) needs a profile with app:, and no profile here has one; accessories have "
            + others.joined(separator: ", ")
    }

    /// `true` if the action turns Bluetooth off or on.
    package var setsPower: Bool {
        if case .action(let action) = effect { action.setsPower } else { false }
    }

    /// Whether the action can have the name of a peripheral in an app's profile.
    private var isOfPeripheral: Bool {
        if case .action(let action) = effect { action.isOfPeripheral } else { false }
    }

    /// `true` if the action changes the distance of a device.
    package var isRange: Bool {
        if case .range = effect { true } else { false }
    }

    /// Whether the action is for the devices of this radio; without a name, turning Bluetooth off or on is
    /// for the phone, if there is one.
    package func isFor(phone isPhone: Bool, ofRunWithPhone hasPhone: Bool) -> Bool {
        guard case .action(let action) = effect else { return false }
        return isPhone || action.isAboutRadio && (name != nil || !hasPhone)
    }

    /// The target of the action; without a name, all apps, or for a change of distance all accessories.
    ///
    /// If there are several phones, an action on a phone needs a name.
    package func target(among names: DeviceNames) throws(Problem) -> AppTarget {
        guard let name else {
            if isOfPhone, names.phones.count > 1 { throw severalPhones(names.phones) }
            guard !isRange || names.devices.contains(where: { !$0.isApp }) else {
                throw Problem(
                    message:
                        "--at \(text): no device of the run is an accessory; write the NAME: of one device")
            }
            return .every
        }
        let meaning: DeviceNames.Meaning
        do throws(DeviceNames.Problem) {
            // A phone forgets a device, and its user picks one, by the name that an app has for it.
            let peripheral = isOfPeripheral ? try names.peripheral(named: name) : nil
            if let peripheral { meaning = peripheral } else { meaning = try names.meaning(of: name) }
        } catch {
            throw Problem(message: "--at \(text): \(error.message)")
        }
        let device: DeviceNames.Device
        switch meaning {
        case .device(let found): device = found
        case .phone(let app): return .phone(of: app.label)
        case .peripheral(let peripheral, let app):
            if isRange || isOfPeripheral { return .peripheral(peripheral, of: app.label) }
            throw Problem(
                message:
                    "--at \(text): \"\(peripheral)\" is a peripheral of \"\(app.label)\"; only "
                    + (UserAction.wordsOfPeripherals + RangeChange.words).joined(separator: ", ")
                    + " apply to it"
            )
        }
        guard device.isApp || !isOfApp else {
            throw Problem(
                message: "--at \(text): \"\(device.label)\" is an accessory, and this state is for apps")
        }
        return isOfPhone && device.isApp ? .phone(of: device.label) : .named(device.label)
    }

    /// `true` if the action is for a phone, if there is one, and not for an app.
    private var isOfPhone: Bool {
        if case .action(let action) = effect { action.isForPhone } else { false }
    }

    /// The error of an action that could be for several phones, which are listed with their first apps.
    private func severalPhones(_ phones: [DeviceNames.Device]) -> Problem {
        let list = NameList.text(
            phones.map { $0.phone.map { "\"\($0)\"" } ?? "the phone of \"\($0.label)\"" }, separator: " and ")
        let first = phones.first.map { $0.phone ?? $0.label } ?? "NAME"
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        return Problem(
            message: "--at \(text): the run has \(phones.count) phones, \(list): name one, as in "
                + "\(parts[0])=\(first):\(parts.last ?? "")")
    }
}
