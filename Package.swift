// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built with these: what the next language mode will ask for anyway.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "mynah",
    products: [
        .executable(name: "mynah", targets: ["MynahCLI"]),
        // Managers, phones and apps, on any radio; it needs no system library.
        .library(name: "Mynah", targets: ["Mynah", "MynahCore", "MynahLifecycle"]),
        // Radios for them: bluetoothd's, which needs libdbus and GLib, and our own host's with the virtual
        // radio, which needs OpenSSL's libcrypto.
        .library(name: "MynahBlueZ", targets: ["MynahBlueZ"]),
        .library(name: "MynahHost", targets: ["MynahHost", "MynahHCI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        // Level 0
        .systemLibrary(
            name: "MynahCDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(
            name: "MynahCGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(
            name: "MynahCYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(
            name: "MynahCCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(name: "MynahSupport"),

        // Level 1
        .target(name: "MynahCore", dependencies: ["MynahSupport"]),
        .target(
            name: "MynahDBus",
            dependencies: [
                "MynahSupport", "MynahCDBus", "MynahCGLib", .product(name: "Logging", package: "swift-log"),
            ]),

        // Level 2
        .target(name: "MynahFaults", dependencies: ["MynahCore", "MynahSupport"]),
        .target(name: "MynahValues", dependencies: ["MynahCore", "MynahSupport"]),
        .target(name: "MynahLifecycle", dependencies: ["MynahCore", "MynahSupport"]),
        .target(name: "MynahHCI", dependencies: ["MynahCore", "MynahSupport"]),

        // Level 3
        .target(
            name: "MynahProfiles",
            dependencies: ["MynahCore", "MynahCYAML", "MynahFaults", "MynahSupport", "MynahValues"]),
        .target(
            name: "MynahBlueZ",
            dependencies: [
                "MynahCore", "MynahDBus", "MynahFaults", "MynahSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "MynahHost",
            dependencies: [
                "MynahCore", "MynahFaults", "MynahHCI", "MynahSupport", "MynahCCrypto",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "Mynah",
            dependencies: [
                "MynahCore", "MynahLifecycle", "MynahSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Level 4
        .target(
            name: "MynahEmulator",
            dependencies: [
                "Mynah", "MynahCore", "MynahFaults", "MynahLifecycle", "MynahProfiles", "MynahSupport",
                "MynahValues",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Level 5
        // From the backends it uses the codecs alone: it has no radio.
        .target(
            name: "MynahImport",
            dependencies: ["MynahCore", "MynahHCI", "MynahHost", "MynahSupport", "MynahValues"]),
        .target(
            name: "MynahControl",
            dependencies: [
                "Mynah", "MynahCore", "MynahEmulator", "MynahLifecycle", "MynahProfiles", "MynahSupport",
                "MynahValues",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),

        // Level 6
        .target(
            name: "MynahRun",
            dependencies: [
                "Mynah", "MynahBlueZ", "MynahControl", "MynahCore", "MynahEmulator", "MynahFaults",
                "MynahHCI", "MynahHost", "MynahLifecycle", "MynahProfiles", "MynahSupport",
            ]),

        // Level 7
        .target(
            name: "MynahConsole",
            dependencies: [
                "Mynah", "MynahCore", "MynahEmulator", "MynahLifecycle", "MynahProfiles", "MynahRun",
                "MynahSupport", "MynahValues",
            ]),

        // Level 8
        .executableTarget(
            name: "MynahCLI",
            dependencies: [
                "Mynah", "MynahBlueZ", "MynahConsole", "MynahControl", "MynahCore", "MynahEmulator",
                "MynahFaults", "MynahHCI", "MynahHost", "MynahImport", "MynahLifecycle", "MynahProfiles",
                "MynahRun",
                "MynahSupport", "MynahValues",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Tests
        .executableTarget(
            name: "mynah-bench-update-value",
            dependencies: ["Mynah", "MynahBlueZ", "MynahCore", "MynahSupport"],
            path: "Tests/Bench/update-value"),
        .executableTarget(
            name: "mynah-lab-slow",
            dependencies: ["Mynah", "MynahBlueZ", "MynahCore", "MynahSupport"],
            path: "Tests/Lab/slow"),
        .executableTarget(
            name: "mynah-bench-hci",
            dependencies: [
                "Mynah", "MynahHost", "MynahHCI", "MynahCore", "MynahLifecycle", "MynahSupport",
                "MynahTestSupport",
            ],
            path: "Tests/Bench/hci"),
        .executableTarget(
            name: "mynah-interop",
            dependencies: ["Mynah", "MynahHost", "MynahHCI", "MynahCore", "MynahFaults", "MynahSupport"],
            path: "Tests/Interop/helper"),
        .executableTarget(
            name: "mynah-layouts", dependencies: ["MynahCore", "MynahSupport", "MynahValues"],
            path: "Tests/Layouts/program"),
        .target(
            name: "MynahTestSupport", dependencies: ["MynahCore", "MynahFaults", "MynahHCI", "MynahSupport"],
            path: "Tests/TestSupport"),
        .target(
            name: "MynahBlueZStandIn", dependencies: ["MynahDBus", "MynahSupport", "MynahTestSupport"],
            path: "Tests/BlueZStandIn"),
        .testTarget(
            name: "MynahBlueZStandInTests",
            dependencies: ["MynahBlueZStandIn", "MynahDBus", "MynahTestSupport"],
            path: "Tests/BlueZStandInTests"),
        .testTarget(name: "MynahSupportTests", dependencies: ["MynahSupport", "MynahTestSupport"]),
        .testTarget(name: "MynahCoreTests", dependencies: ["MynahCore", "MynahSupport", "MynahTestSupport"]),
        .testTarget(
            name: "MynahFaultsTests",
            dependencies: ["MynahFaults", "MynahCore", "MynahSupport", "MynahTestSupport"]),
        .testTarget(name: "MynahValuesTests", dependencies: ["MynahValues", "MynahCore", "MynahSupport"]),
        .testTarget(name: "MynahDBusTests", dependencies: ["MynahDBus", "MynahSupport", "MynahTestSupport"]),
        .testTarget(
            name: "MynahProfilesTests",
            dependencies: [
                "MynahProfiles", "MynahCore", "MynahFaults", "MynahSupport", "MynahTestSupport",
                "MynahValues",
            ]),
        .testTarget(
            name: "MynahBlueZTests",
            dependencies: [
                "MynahBlueZ", "MynahBlueZStandIn", "MynahCore", "MynahDBus", "MynahFaults", "MynahSupport",
                "MynahTestSupport",
            ]),
        .testTarget(
            name: "MynahLifecycleTests",
            dependencies: ["MynahLifecycle", "MynahCore", "MynahSupport", "MynahTestSupport"]),
        .testTarget(
            name: "MynahTests",
            dependencies: ["Mynah", "MynahCore", "MynahLifecycle", "MynahSupport", "MynahTestSupport"]),
        .testTarget(
            name: "MynahEmulatorTests",
            dependencies: [
                "MynahEmulator", "Mynah", "MynahBlueZ", "MynahBlueZStandIn", "MynahCore", "MynahDBus",
                "MynahHCI", "MynahHost", "MynahLifecycle", "MynahProfiles", "MynahSupport",
                "MynahTestSupport", "MynahValues",
            ]),
        .testTarget(
            name: "MynahControlTests",
            dependencies: [
                "MynahControl", "MynahEmulator", "MynahLifecycle", "MynahSupport", "MynahTestSupport",
            ]),
        .testTarget(
            name: "MynahImportTests",
            dependencies: [
                "MynahImport", "Mynah", "MynahCore", "MynahEmulator", "MynahHCI", "MynahHost",
                "MynahProfiles",
                "MynahSupport", "MynahTestSupport",
            ]),
        .testTarget(
            name: "MynahRunTests",
            dependencies: [
                "MynahRun", "Mynah", "MynahControl", "MynahCore", "MynahEmulator", "MynahHCI", "MynahHost",
                "MynahLifecycle", "MynahProfiles", "MynahSupport", "MynahTestSupport",
            ]),
        .testTarget(
            name: "MynahConsoleTests",
            dependencies: [
                "MynahConsole", "Mynah", "MynahCore", "MynahEmulator", "MynahLifecycle", "MynahProfiles",
                "MynahRun", "MynahSupport", "MynahTestSupport", "MynahValues",
            ], exclude: ["Screens"]),
        // Commands are played in the test, or by the program, which is built because it is a product.
        .testTarget(
            name: "MynahCLITests",
            dependencies: [
                "MynahBlueZStandIn", "MynahCLI", "MynahCore", "MynahDBus", "MynahEmulator", "MynahHCI",
                "MynahHost", "MynahProfiles", "MynahRun", "MynahSupport", "MynahTestSupport",
            ]),
        .testTarget(
            name: "MynahHostTests",
            dependencies: [
                "MynahHost", "Mynah", "MynahEmulator", "MynahFaults", "MynahHCI", "MynahCore",
                "MynahLifecycle", "MynahProfiles", "MynahSupport", "MynahTestSupport",
            ]),
        .testTarget(
            name: "MynahHCITests",
            dependencies: ["MynahHCI", "MynahCore", "MynahSupport", "MynahTestSupport"]),
        .testTarget(name: "MynahArchitectureTests"),
        .testTarget(
            name: "MynahTestSupportTests", dependencies: ["MynahTestSupport", "MynahSupport"],
            path: "Tests/TestSupportTests"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}

// Only for fuzzing (Tests/Fuzz/run), so that no other build knows of it. All targets have coverage counters.
if let build = Context.environment["MYNAH_FUZZ"] {
    package.targets.append(contentsOf: [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
        .executableTarget(
            name: "mynah-fuzz",
            dependencies: [
                "CLibFuzzer", "Mynah", "MynahCDBus", "MynahCore", "MynahDBus", "MynahEmulator", "MynahHCI",
                "MynahHost", "MynahImport", "MynahProfiles", "MynahSupport", "MynahTestSupport",
                "MynahValues",
            ],
            path: "Tests/Fuzz/Program", linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),
    ])
    for target in package.targets where target.type != .system {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .unsafeFlags(["-sanitize=fuzzer"] + (build == "quick" ? ["-gnone"] : ["-O"]))
            ]
    }
}
