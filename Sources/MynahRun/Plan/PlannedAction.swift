package import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// A change planned with `--at`: a delay, an effect, and the name of a device if there is one.
package struct PlannedAction: Hashable, Sendable {
    /// The reason why a text is not a valid plan.
    package struct Problem: Error, Hashable, Sendable {
        package var message: String
    }

    /// The effect of the change.
    package enum Effect: Hashable, Sendable {
        /// An action of the user, on an app or on a phone's or accessory's radio.
        case action(UserAction)
        /// A change of a device's distance or reachability.
        case range(RangeChange)
    }

    /// The delay after all devices of the run are ready.
    package let delay: Duration
    package let effect: Effect
    /// The name of a device, app or phone as the user wrote it, or `nil` if there is none.
    let name: String?
    private let text: String

    /// Parses a text such as `10s=background` or `10s=Lock app:background`.
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
        // A name may contain a colon, but no state does, except the text of an alert.
        let start = Self.alert(in: parts[1])
        let colon = (start.map { parts[1][..<$0] } ?? parts[1][...]).lastIndex(of: ":")
        name = colon.map { String(parts[1][..<$0]) }
        if name?.isEmpty == true { throw Problem(message: "--at \(text): there is no name before the colon") }
        effect = try Self.effect(colon.map { String(parts[1][$0...].dropFirst()) } ?? parts[1], in: text)
    }

    /// The index of `alert TEXT` at the start of the text or after a name, or `nil` if there is none.
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

    /// Throws if the text of an alert exceeds the limits of a profile's notification.
    private static func check(alert message: String) throws(Problem) {
        let notification: [JSON.Member] = [.init("app", "mynah"), .init("message", .string(message))]
        do throws(ProfileIssues) {
            _ = try ProfileLoader.notification(.object(notification), name: "--at")
        } catch {
            throw Problem(message: "--at: the text of alert: \(error.issues.first?.message ?? "is invalid")")
        }
    }

    /// `true` if the effect is on an app, and not on a radio or a distance.
    package var isOfApp: Bool {
        if case .action(let action) = effect { !action.isAboutRadio } else { false }
    }

    /// The error message for an action on an app in a run without apps.
    package var lacksApp: String {
        let others = UserAction.words.filter { UserAction($0)?.isAboutRadio == true } + RangeChange.words
        return "--at \(text) needs a profile with app:, and no profile here has one; accessories have "
            + others.joined(separator: ", ")
    }

    /// `true` if the action turns Bluetooth off or on.
    package var setsPower: Bool {
        if case .action(let action) = effect { action.setsPower } else { false }
    }

    /// Whether `name` can be that of a peripheral in an app's profile.
    private var isOfPeripheral: Bool {
        if case .action(let action) = effect { action.isOfPeripheral } else { false }
    }

    /// `true` if the action changes the distance of a device.
    package var isRange: Bool {
        if case .range = effect { true } else { false }
    }

    /// Whether the action applies to the devices of a radio, which are a phone's apps if `isPhone` is `true`.
    ///
    /// Every action applies to apps, and actions on a radio also apply to accessories. Without a name,
    /// however, turning Bluetooth off or on does not apply to accessories in a run with a phone.
    package func isFor(phone isPhone: Bool, ofRunWithPhone hasPhone: Bool) -> Bool {
        guard case .action(let action) = effect else { return false }
        return isPhone || action.isAboutRadio && (name != nil || !hasPhone)
    }

    /// The target of the action; throws if the name is unknown or ambiguous.
    ///
    /// Without a name, the target is every app, or every accessory for a change of distance. If there are
    /// several phones, an action on a phone needs a name.
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
            // These actions refer to a device by the name that an app has for it.
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

    /// `true` if the action is for a whole phone, and not for one app.
    private var isOfPhone: Bool {
        if case .action(let action) = effect { action.isForPhone } else { false }
    }

    /// The error of an action that needs the name of a phone, with a list of the phones.
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
