package import MynahEmulator
import MynahLifecycle
import MynahProfiles
import MynahSupport

/// What `--at` says: a time after the start, an app or another device, and what happens to it then.
package struct PlannedAction: Hashable, Sendable {
    /// What is wrong with it.
    package struct Problem: Error, Hashable, Sendable {
        package var message: String
    }

    /// From the moment that every device of the run is ready.
    package let delay: Duration
    package let action: UserAction
    /// The app's name as it was written, or `nil` if there is none.
    let name: String?
    private let text: String

    /// Reads `10s=background` or `10s=Lock app:background`.
    package init(parsing text: String) throws(Problem) {
        self.text = text
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2 else {
            throw Problem(
                message: "--at wants a time and a state, as in --at 10s=background, not \"\(text)\"")
        }
        guard !parts[0].hasPrefix("-") else {
            throw Problem(message: "--at \(text): the time \(parts[0]) is past before the run has begun")
        }
        do throws(DurationText.Problem) {
            delay = try DurationText.parse(parts[0])
        } catch {
            throw Problem(message: "--at \(text): the time \(error.message)")
        }
        // A name may have a colon in it, and no state has one.
        let colon = parts[1].lastIndex(of: ":")
        name = colon.map { String(parts[1][..<$0]) }
        let word = (colon.map { parts[1][$0...].dropFirst() } ?? parts[1][...]).filter { $0 != " " }
        if name?.isEmpty == true { throw Problem(message: "--at \(text): there is no name before the colon") }
        guard let action = UserAction(word) else {
            let near = NearestName.of(word, among: UserAction.words).map { "; did you mean \($0)?" }
            let hint = near ?? "; the states are \(UserAction.words.joined(separator: ", "))"
            throw Problem(message: "--at \(text): there is no state \"\(word)\"\(hint)")
        }
        self.action = action
    }

    /// The apps that it is for.
    package func target(among names: DeviceNames) throws(Problem) -> AppTarget {
        guard let name else { return .every }
        let device: DeviceNames.Device
        do throws(DeviceNames.Problem) {
            device = try names.device(named: name)
        } catch {
            throw Problem(message: "--at \(text): \(error.message)")
        }
        guard device.isApp || action.isAboutRadio else {
            throw Problem(message: "--at \(text): \"\(device.label)\" is an accessory, and no app plays it")
        }
        return .named(device.label)
    }
}
