// swift-tools-version: 6.2
import PackageDescription

// A package that depends on Mynah by its URL has `.product(name: "Mynah", package: "mynah")`. A path is named
// after its folder instead.
let mynah = String(Context.packageDirectory.split(separator: "/").dropLast().last ?? "mynah")

let products: [Target.Dependency] = [
    .product(name: "Mynah", package: mynah), .product(name: "MynahHost", package: mynah),
]

let package = Package(
    name: "examples",
    dependencies: [.package(path: "..")],
    targets: [
        .executableTarget(name: "HeartRateMonitor", dependencies: products, path: "HeartRateMonitor"),
        .executableTarget(name: "BackgroundApp", dependencies: products, path: "BackgroundApp"),
        .executableTarget(name: "Subscriber", dependencies: products, path: "Subscriber"),
        .executableTarget(name: "MainActorApp", dependencies: products, path: "MainActorApp"),
    ],
    swiftLanguageModes: [.v6]
)
