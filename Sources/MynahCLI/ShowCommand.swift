import ArgumentParser
import MynahConsole
import MynahCore
import MynahProfiles
import MynahSupport

/// `mynah show`.
struct ShowCommand: StagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Prints a profile's attributes and advertising bytes, without a radio.",
        discussion: """
            For a profile with app:, the bytes are those of an iPhone on which only this app advertises. \
            They depend on the app's state: text shows every state, JSON the one that the app starts in. \
            --state selects one.
            """)

    enum Format: String, CaseIterable {
        case text
        case json
    }

    @Argument(help: "The profile file.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var profile: String

    @Option(
        help: """
            The radio that arranges the bytes: virtual (the default), or bluez for bluetoothd \
            \(KnownRadio.bluezVersion), the oldest supported version.
            """,
        completion: Choice.completion(of: KnownRadio.self), transform: Choice.parse)
    var radio: KnownRadio = .virtual

    @Option(
        help: "The app's state: foreground, background or suspended.",
        completion: Choice.completion(of: Profile.App.StartState.self), transform: Choice.parse)
    var state: Profile.App.StartState?

    @Option(
        help: "text (the default) or json.", completion: Choice.completion(of: Format.self),
        transform: Choice.parse)
    var format: Format = .text

    func play(in surroundings: Surroundings) throws {
        let profiles = try ProfileLoading.load([profile]) { surroundings.say($0) }
        guard let profile = profiles.first else { return }
        if state != nil, profile.app == nil {
            throw Exit.wrongUsage(
                "--state needs a profile with app:, and \(PrintableText.of(profile.file)) is an accessory",
                of: ShowCommand.self)
        }
        let airs: [AirView]
        do throws(AdvertisementError) {
            airs = try AirView.of(profile, in: states(of: profile), on: radio)
        } catch {
            let issue = profile.issue(.error, at: profile.advertising?.marks[error.field], "\(error)")
            surroundings.say(issue.description)
            throw Exit.problems
        }
        switch format {
        case .json: surroundings.print(ProfileView.json(of: profile, airs).prettyText)
        case .text:
            // The text is printed line by line, because a profile's names may contain any character.
            for line in ProfileView.text(of: profile, airs) { surroundings.print(PrintableText.of(line)) }
        }
    }

    private func states(of profile: Profile) -> [Profile.App.StartState] {
        guard let app = profile.app else { return [] }
        if let state { return [state] }
        return format == .json ? [app.state] : Profile.App.StartState.allCases
    }
}
