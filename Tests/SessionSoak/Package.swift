// swift-tools-version:6.2
import PackageDescription

// What `Config/soak-session` runs. A package of its own, so that a build with a sanitizer compiles ByteClubHTTP and what
// it needs, and nothing of the rest.
let package = Package(
    name: "SessionSoak",
    dependencies: [
        .package(name: "ByteClub", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "CSoak"),
        .executableTarget(
            name: "session-soak",
            dependencies: [
                "CSoak",
                .product(name: "ByteClubHTTP", package: "ByteClub"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]),
    ]
)
