import ArgumentParser
import MynahCore
import MynahEmulator
import MynahProfiles
import MynahSupport

/// `mynah show`.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a profile's attributes and the bytes it puts on the air, without any radio.")

    enum Format: String, CaseIterable {
        case text
        case json
    }

    @Argument(help: "The profile file.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var profile: String

    @Option(
        help:
            "Whose bytes: virtual (the default), what the device itself would send, or bluez, as bluetoothd arranges them.",
        completion: Choice.completion(of: KnownRadio.self), transform: Choice.parse)
    var radio: KnownRadio = .virtual

    @Option(
        help: "text (the default) or json.", completion: Choice.completion(of: Format.self),
        transform: Choice.parse)
    var format: Format = .text

    func run() throws {
        let profiles = try ProfileLoading.load([profile])
        guard let profile = profiles.first else { return }
        let report: AdvertisingReport
        do throws(AdvertisementError) {
            report =
                try profile.advertising.map { advertising throws(AdvertisementError) in
                    try radio.report(advertising.advertisement)
                } ?? .silent
        } catch {
            let issue = profile.issue(.error, at: profile.advertising?.marks[error.field], "\(error)")
            StandardError.print(issue.description)
            throw Exit.problems
        }
        switch format {
        case .json: print(ProfileView.json(of: profile, report).prettyText)
        case .text:
            // Line by line: a profile's names may have anything in them.
            for line in ProfileView.text(of: profile, report) { print(PrintableText.of(line)) }
        }
    }
}

/// A profile as `show` prints it.
enum ProfileView {
    static func json(of profile: Profile, _ report: AdvertisingReport) -> JSON {
        .object([
            .init("profile", .string(profile.name)),
            .init("advertising", .object(EventFields.of(report))),
            .init("services", .array(profile.services.map { json(of: $0, in: profile) })),
        ])
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

    static func text(of profile: Profile, _ report: AdvertisingReport) -> [String] {
        var lines = [profile.name, ""]
        lines += advertising(report)
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
        var line = "  \(EventText.pad(name(of: characteristic.uuid), 44)) "
        line += characteristic.properties.names.joined(separator: ", ")
        switch characteristic.value {
        case .bytes(let bytes) where !bytes.isEmpty: line += "  = " + EventText.value(Hex.encode(bytes))
        case .bytes: break
        case .generated(let generator): line += "  = \(type(of: generator).name)"
        }
        if let every = characteristic.every { line += " every \(DurationText.format(every))" }
        return [line]
            + characteristic.descriptors.map { descriptor in
                "    \(EventText.pad(name(of: descriptor.uuid), 42)) \(descriptor.properties.names.joined(separator: ", "))"
                    + (descriptor.value.isEmpty ? "" : "  = " + EventText.value(Hex.encode(descriptor.value)))
            }
    }

    private static func advertising(_ report: AdvertisingReport) -> [String] {
        guard report.isOn else { return ["not advertised"] }
        var lines = ["advertising data (\(report.data.count) of 31 bytes)"]
        lines += structures(report.data)
        if !report.scanResponse.isEmpty {
            lines.append("scan response (\(report.scanResponse.count) of 31 bytes)")
            lines += structures(report.scanResponse)
        }
        if let interval = report.interval {
            lines.append("every \(DurationText.format(interval.lowerBound))")
        }
        lines += report.omitted.map { "not sent: \($0.item): \($0.reason)" }
        return lines
    }

    private static func structures(_ bytes: [UInt8]) -> [String] {
        [ADStructure].decode(bytes).structures.map { structure in
            let hex = Hex.encode([UInt8(structure.data.count + 1), structure.type.rawValue] + structure.data)
            return "  \(EventText.pad(hex, 48)) \(ADNames.describe(structure))"
        }
    }

    private static func name(of uuid: BluetoothUUID) -> String {
        AssignedNumbers.name(of: uuid).map { "\(uuid) \($0)" } ?? uuid.description
    }
}
