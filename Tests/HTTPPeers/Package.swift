// swift-tools-version:6.2
import PackageDescription

// What `Config/bench --only session` measures: ByteClubHTTP in a program of its own, beside others. A package of its own:
// nothing else needs these.
let package = Package(
    name: "HTTPPeers",
    dependencies: [
        .package(name: "ByteClub", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "async-http-client",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "_NIOFileSystem", package: "swift-nio"),
            ]),
        .executableTarget(
            name: "byteclub-http",
            dependencies: [
                .product(name: "ByteClubHTTP", package: "ByteClub"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            // As the project's programs; the group lets Foundation's archives name each other in any order.
            linkerSettings: [
                .unsafeFlags([
                    "-static-stdlib", "-Xlinker", "--start-group", "-lFoundationEssentials",
                    "-l_FoundationCollections", "-l_FoundationCShims", "-Xlinker", "--end-group", "-lstdc++",
                    "-Xlinker", "--no-export-dynamic",
                ])
            ]),
        // The same libcurl from C: what a session adds to it.
        .executableTarget(name: "bare-libcurl", linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(name: "foundation-networking"),
    ]
)
