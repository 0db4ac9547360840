// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

// Tests are compiled without optimisation: what they test has it, they build in half the time, and the optimiser of
// Swift 6.3 crashes on some of their asynchronous closures.
let testSettings = settings + [.unsafeFlags(["-Onone"])]

// A static standard library starts in a third of the time of the shared one. It is linked into the programs alone, since
// the test bundle needs the shared one, so that one build serves both; the group lets Foundation's archives name each
// other in any order.
let staticStart: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-Xlinker", "--start-group", "-lFoundationEssentials", "-l_FoundationCollections",
            "-l_FoundationCShims", "-Xlinker", "--end-group", "-lstdc++", "-Xlinker", "--no-export-dynamic",
        ], .when(platforms: [.linux]))
]
// The program of the short commands loads no library but libc before libcurl: each costs a third of a millisecond. It is
// not position-independent, since 65,000 relocations at each start would take another half millisecond; what that gives up
// is a random address of its code and constants, while heap, stack and libraries keep theirs.
let staticLibraries: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-L\(Context.packageDirectory)/Config/static", "-Xclang-linker", "-static-libgcc",
            "-Xclang-linker", "-no-pie",
        ], .when(platforms: [.linux]))
]
let staticFoundation: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-Xlinker", "--start-group", "-lFoundation", "-lFoundationInternationalization", "-lFoundationEssentials",
            "-lCoreFoundation", "-l_FoundationCollections", "-l_FoundationCShims", "-l_FoundationICU", "-Xlinker",
            "--end-group",
        ], .when(platforms: [.linux]))
]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
// SQLite's own functions, as GRDB declares them.
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let mustache: Target.Dependency = .product(name: "Mustache", package: "swift-mustache")
let nio: (String) -> Target.Dependency = { .product(name: $0, package: "swift-nio") }
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1: Target.Dependency = .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

// Benchmarks, examples and tests: `Config/build programs` does not build them.
let development: [Target] = [
    .executableTarget(
        name: "Benchmarks",
        dependencies: ["ByteClubCore", "ByteClubHTTP", "ByteClubMedia", "CLinux", httpTypes, "TestSupport"],
        swiftSettings: settings),
    // Attacks on a server, for Tests/Tools/siege.
    .executableTarget(
        name: "Siege", dependencies: ["ByteClubCore", "CLinux", "TestSupport"], path: "Tests/Siege",
        swiftSettings: settings),
    // Small programs on the public API alone, for those who learn it.
    .executableTarget(
        name: "halftunes", dependencies: ["ByteClubHTTP", "ExampleSupport", argumentParser, httpTypes],
        path: "Sources/Examples/halftunes", exclude: ["README.md"], swiftSettings: settings,
        linkerSettings: staticStart),
    .executableTarget(
        name: "singlecast", dependencies: ["ByteClubHTTP", "ExampleSupport", argumentParser, httpTypes],
        path: "Sources/Examples/singlecast", exclude: ["README.md"], swiftSettings: settings,
        linkerSettings: staticStart),
    .executableTarget(
        name: "downloads",
        dependencies: [
            "ByteClubHTTP", "ByteClubMedia", "DownloadBoard", "ExampleSupport", argumentParser, httpTypes,
        ],
        path: "Sources/Examples/downloads", exclude: ["README.md", "Board"], swiftSettings: settings,
        linkerSettings: staticStart),
    // What its keys and events do, apart from it so that tests can link it.
    .target(
        name: "DownloadBoard", dependencies: ["ExampleSupport"], path: "Sources/Examples/downloads/Board",
        swiftSettings: settings),
    // The exit codes, the printing and the terminal's keys that they share.
    .target(
        name: "ExampleSupport", dependencies: ["ByteClubHTTP", argumentParser], path: "Sources/Examples/Support",
        swiftSettings: settings),
    .target(
        name: "TestSupport", dependencies: ["ByteClubCore", "CLinux"], path: "Tests/Support",
        swiftSettings: settings),
    // A server in memory. Optimised, as the simulations are: what they simulate is run millions of times.
    .target(
        name: "MemoryRemote", dependencies: ["ByteClubRemotes", "ByteClubCore", crypto, "TestSupport"],
        path: "Tests/MemoryRemote", swiftSettings: settings),
    .target(
        name: "SyncSimulation", dependencies: ["ByteClubSync", "ByteClubCore", "MemoryRemote", "TestSupport"],
        path: "Tests/Simulation", swiftSettings: settings),
    .testTarget(
        name: "ByteClubCoreTests", dependencies: ["ByteClubCore", crypto, "TestSupport"],
        swiftSettings: testSettings),
    .testTarget(
        name: "ByteClubHTTPTests", dependencies: ["ByteClubHTTP", "CLinux", httpTypes, logging, "TestSupport"],
        swiftSettings: testSettings),
    .testTarget(
        name: "ByteClubMediaTests", dependencies: ["ByteClubMedia", "CZlib", "TestSupport"],
        swiftSettings: testSettings
    ),
    .testTarget(
        name: "ByteClubRemotesTests",
        dependencies: [
            "ByteClubRemotes", "ByteClubCore", "ByteClubHTTP", httpTypes, "MemoryRemote", "TestSupport",
        ],
        swiftSettings: testSettings),
    .testTarget(
        name: "ByteClubSyncTests",
        dependencies: [
            "ByteClubSync", "ByteClubCore", "ByteClubFiles", "CLinux", "MemoryRemote", "SyncSimulation",
            "TestSupport",
        ],
        swiftSettings: testSettings),
    // Whole cores for minutes, and so not beside tests that wait for an engine.
    .testTarget(
        name: "SyncProofTests", dependencies: ["ByteClubSync", "SyncSimulation", "TestSupport"],
        swiftSettings: testSettings),
    .testTarget(
        name: "ByteClubCLITests",
        dependencies: [
            "ByteClubCLI", "ByteClubCore", "ByteClubFiles", "ByteClubHTTP", "ByteClubMedia", "ByteClubRemotes",
            "ByteClubSync", "CLinux", "MemoryRemote", "TestSupport",
        ], swiftSettings: testSettings),
    .testTarget(
        name: "ByteClubServerTests",
        dependencies: [
            "ByteClubServer", "ByteClubCore", "ByteClubFiles", "ByteClubHTTP", "CLinux", argumentParser, crypto,
            grdb, httpTypes, logging, nio("NIOCore"), serviceLifecycle, "TestSupport",
        ],
        swiftSettings: testSettings),
    .testTarget(
        name: "EndToEndTests",
        dependencies: [
            "ByteClubCore", "ByteClubHTTP", "ByteClubRemotes", "CLinux", "DownloadBoard", "ExampleSupport", httpTypes,
            "TestSupport",
        ],
        swiftSettings: testSettings),
]

let package = Package(
    name: "ByteClub",
    products: [
        .executable(name: "byteclub", targets: ["byteclub"]),
        .executable(name: "byteclub-mirror", targets: ["byteclub-mirror"]),
        .executable(name: "byteclub-server", targets: ["byteclub-server"]),
        .library(name: "ByteClubHTTP", targets: ["ByteClubHTTP"]),
        .library(name: "ByteClubCore", targets: ["ByteClubCore"]),
        .library(name: "ByteClubMedia", targets: ["ByteClubMedia"]),
        .library(name: "ByteClubRemotes", targets: ["ByteClubRemotes"]),
        .library(name: "ByteClubSync", targets: ["ByteClubSync"]),
    ],
    dependencies: [
        // Commands, help, completions and manual pages from one definition.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // SHA-256 at the processor's speed, random tokens, HMAC, scrypt for passwords.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // The server's own limits on connections and bodies, below Hummingbird.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        // Certificates for the server's TLS.
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        // Request and response values that client and server share.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        // One logging interface for libraries; the programs choose where lines go.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // SQLite: the mirror's trees on the client, metadata and small bodies on the server.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // The HTTP server: streaming bodies with back-pressure.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        // The server's few pages: HTML with everything escaped that is not said otherwise.
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        // Start, signals and graceful shutdown of long-running parts.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Loaded when the first session starts, so that commands without a network do not wait for its 36 libraries.
        .systemLibrary(name: "CLibcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CTurboJPEG", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CPNG", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CSQLiteLog"),
        // The file system's calls, for all targets below; no product.
        .target(name: "ByteClubFiles", swiftSettings: settings),
        .target(name: "ByteClubCore", dependencies: [crypto], swiftSettings: settings),
        .target(
            name: "ByteClubHTTP", dependencies: ["ByteClubFiles", "CLibcurl", httpTypes, logging],
            swiftSettings: settings),
        .target(
            name: "ByteClubMedia", dependencies: ["ByteClubFiles", "CPNG", "CTurboJPEG", "CZlib"],
            swiftSettings: settings),
        .target(
            name: "ByteClubRemotes", dependencies: ["ByteClubCore", "ByteClubFiles", "ByteClubHTTP", httpTypes],
            swiftSettings: settings),
        .target(
            name: "ByteClubSync",
            dependencies: [
                "ByteClubCore", "ByteClubFiles", "CLinux", "CSQLiteLog", crypto, serviceLifecycle, sqlite,
            ],
            swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .target(
            name: "ByteClubCLI",
            dependencies: [
                "ByteClubCore", "ByteClubFiles", "ByteClubHTTP", "ByteClubMedia", "ByteClubRemotes", "CLinux",
                argumentParser, httpTypes, logging,
            ],
            swiftSettings: settings),
        .target(
            name: "ByteClubServer",
            dependencies: [
                "ByteClubCore", "ByteClubFiles", "ByteClubMedia", "CLinux", "CZlib", argumentParser, crypto,
                cryptoExtras, grdb, httpTypes, hummingbirdCore, logging, mustache, nio("NIOCore"),
                nio("NIOHTTP1"),
                nio("NIOPosix"), nioHTTPTypes, nioHTTPTypesHTTP1, nioSSL, serviceLifecycle,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            exclude: ["Web/Design.md"], resources: [.embedInCode("Web/Templates")],
            swiftSettings: settings),
        .executableTarget(
            name: "byteclub", dependencies: ["ByteClubCLI"], swiftSettings: settings,
            linkerSettings: staticStart + staticLibraries),
        // The commands about mirrors: SQLite, which the others start faster without.
        .executableTarget(
            name: "byteclub-mirror", dependencies: ["ByteClubCLI", "ByteClubCore", "ByteClubSync"],
            swiftSettings: settings, linkerSettings: staticStart),
        .executableTarget(
            name: "byteclub-server", dependencies: ["ByteClubServer"], swiftSettings: settings,
            linkerSettings: staticStart + staticFoundation),
    ] + (Context.environment["BYTECLUB_BUILD"] == "programs" ? [] : development)
)
