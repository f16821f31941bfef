// swift-tools-version: 6.2
import PackageDescription

/// A dependency that is a folder has the name of the folder.
let mynah = String(Context.packageDirectory.split(separator: "/").dropLast(3).last ?? "mynah")

let package = Package(
    name: "client",
    dependencies: [.package(path: "../../..")],
    targets: [.target(name: "Client", dependencies: [.product(name: "Mynah", package: mynah)])],
    swiftLanguageModes: [.v6]
)
