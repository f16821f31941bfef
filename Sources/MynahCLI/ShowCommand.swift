import ArgumentParser
import MynahConsole
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// `mynah show`.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a profile's attributes and the bytes it puts on the air, without any radio.",
        discussion: """
            With app: the bytes are those of an iPhone with this app alone, and another in each of the app's states. Text \
            shows every state, JSON the one that the app starts in, unless --state names one.
            """)

    enum Format: String, CaseIterable {
        case text
        case json
    }

    @Argument(help: "The profile file.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var profile: String

    @Option(
        help:
            "Whose bytes: virtual (the default), what the device itself would send, or bluez, as bluetoothd \(KnownRadio.bluezVersion), the oldest known here, arranges them.",
        completion: Choice.completion(of: KnownRadio.self), transform: Choice.parse)
    var radio: KnownRadio = .virtual

    @Option(
        help: "foreground, background or suspended: the state of an iOS app to show.",
        completion: Choice.completion(of: Profile.App.StartState.self), transform: Choice.parse)
    var state: Profile.App.StartState?

    @Option(
        help: "text (the default) or json.", completion: Choice.completion(of: Format.self),
        transform: Choice.parse)
    var format: Format = .text

    func run() throws {
        let profiles = try ProfileLoading.load([profile])
        guard let profile = profiles.first else { return }
        if state != nil, profile.app == nil {
            throw Exit.wrongUsage(
                "--state is for a profile with app:, and \(profile.file) is an accessory's, which has no states",
                of: ShowCommand.self)
        }
        let airs: [AirView]
        do throws(AdvertisementError) {
            airs = try AirView.of(profile, in: states(of: profile), on: radio)
        } catch {
            let issue = profile.issue(.error, at: profile.advertising?.marks[error.field], "\(error)")
            StandardError.print(issue.description)
            throw Exit.problems
        }
        switch format {
        case .json: print(ProfileView.json(of: profile, airs).prettyText)
        case .text:
            // Line by line: a profile's names may have anything in them.
            for line in ProfileView.text(of: profile, airs) { print(PrintableText.of(line)) }
        }
    }

    private func states(of profile: Profile) -> [Profile.App.StartState] {
        guard let app = profile.app else { return [] }
        if let state { return [state] }
        return format == .json ? [app.state] : Profile.App.StartState.allCases
    }
}

/// A profile as `show` prints it.
enum ProfileView {
    static func json(of profile: Profile, _ airs: [AirView]) -> JSON {
        let air = airs.first
        var fields: [JSON.Member] = [.init("profile", .string(profile.name))]
        if let state = air?.states.first { fields.append(.init("state", .string(state.rawValue))) }
        fields.append(.init("advertising", .object(air?.fields ?? [])))
        fields.append(.init("services", .array(profile.services.map { json(of: $0, in: profile) })))
        return .object(fields)
    }

    private static func json(of service: Profile.Service, in profile: Profile) -> JSON {
        .object([
            .init("uuid", .string(service.uuid.description)),
            .init("primary", .bool(service.isPrimary)),
            .init(
                "includes", .array(service.includes.map { .string(profile.services[$0].uuid.description) })),
            .init("characteristics", .array(service.characteristics.map { json(of: $0) })),
        ])
    }

    private static func json(of characteristic: Profile.Characteristic) -> JSON {
        .object([
            .init("uuid", .string(characteristic.uuid.description)),
            .init("properties", .array(characteristic.properties.names.map { .string($0) })),
            .init(
                "descriptors",
                .array(
                    characteristic.descriptors.map { descriptor in
                        .object([
                            .init("uuid", .string(descriptor.uuid.description)),
                            .init("properties", .array(descriptor.properties.names.map { .string($0) })),
                        ])
                    })),
        ])
    }

    static func text(of profile: Profile, _ airs: [AirView]) -> [String] {
        var lines = [profile.name, ""]
        lines += airs.flatMap(\.text)
        for service in profile.services {
            lines.append("")
            let includes = service.includes.map { name(of: profile.services[$0].uuid) }
            lines.append(
                "\(service.isPrimary ? "primary" : "secondary") service \(name(of: service.uuid))"
                    + (includes.isEmpty ? "" : "  includes " + includes.joined(separator: ", ")))
            for characteristic in service.characteristics { lines += text(of: characteristic) }
        }
        return lines
    }

    private static func text(of characteristic: Profile.Characteristic) -> [String] {
        var line = "  \(ScreenLine.pad(name(of: characteristic.uuid), 44)) "
        line += characteristic.properties.names.joined(separator: ", ")
        switch characteristic.value {
        case .bytes(let bytes) where !bytes.isEmpty: line += "  = " + EventText.value(Hex.encode(bytes))
        case .bytes: break
        case .generated(let generator): line += "  = \(type(of: generator).name)"
        }
        if let every = characteristic.every { line += " every \(DurationText.format(every))" }
        return [line]
            + characteristic.descriptors.map { descriptor in
                "    \(ScreenLine.pad(name(of: descriptor.uuid), 42)) \(descriptor.properties.names.joined(separator: ", "))"
                    + (descriptor.value.isEmpty ? "" : "  = " + EventText.value(Hex.encode(descriptor.value)))
            }
    }

    static func name(of uuid: BluetoothUUID) -> String {
        AssignedNumbers.name(of: uuid).map { "\(uuid) \($0)" } ?? uuid.description
    }
}
