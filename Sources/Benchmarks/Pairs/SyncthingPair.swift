import Glibc
import TestSupport

/// Two devices of Debian's Syncthing on loopback, with its shortest delay after an event.
struct SyncthingPair: MirrorPair {
    let one: String
    let two: String
    let processes: [SpawnedProcess]

    static var isInstalled: Bool { Peer.syncthing.isInstalled }

    private struct Device {
        let home: String
        let mirror: String
        let id: String
        let port: Int
    }

    static func start(in folder: String, fill: (String) throws -> Void) async throws -> SyncthingPair {
        guard let program = Program.system("syncthing") else {
            throw Stopwatch.Failure(description: "Debian's package syncthing is missing")
        }
        var devices: [Device] = []
        for (number, name) in ["one", "two"].enumerated() {
            let home = "\(folder)/syncthing-\(name)"
            try await Program.run(
                program, ["generate", "--home", home, "--no-default-folder", "--skip-port-probing"],
                environment: ["HOME": folder]
            ).succeeded()
            let id = try await Program.run(program, ["--home", home, "--device-id"], environment: ["HOME": folder])
            let mirror = "\(folder)/\(name)"
            LocalFiles.makeFolder(mirror + "/.stfolder")
            devices.append(
                Device(
                    home: home, mirror: mirror, id: String(id.text.prefix { !$0.isWhitespace }),
                    port: 22_000 + (Int(getpid()) + number) % 20_000))
        }
        try fill(devices[0].mirror)
        let processes = try devices.map { device in
            try LocalFiles.write(configuration(of: device, among: devices), to: device.home + "/config.xml")
            return try Program.start(
                program, ["serve", "--home", device.home, "--no-browser", "--no-restart"],
                environment: ["HOME": folder, "STNOUPGRADE": "1"], timeout: .seconds(3600))
        }
        return SyncthingPair(one: devices[0].mirror, two: devices[1].mirror, processes: processes)
    }

    private static func configuration(of device: Device, among devices: [Device]) -> String {
        let known = devices.map { "<device id=\"\($0.id)\"><address>tcp://127.0.0.1:\($0.port)</address></device>" }
        let shared = devices.map { "<device id=\"\($0.id)\"/>" }
        return """
            <configuration version="36">
            <folder id="club" path="\(device.mirror)" type="sendreceive" rescanIntervalS="3600" \
            fsWatcherEnabled="true" fsWatcherDelayS="1">\(shared.joined())</folder>
            \(known.joined())
            <gui enabled="false"/>
            <options>
            <listenAddress>tcp://127.0.0.1:\(device.port)</listenAddress>
            <globalAnnounceEnabled>false</globalAnnounceEnabled><localAnnounceEnabled>false</localAnnounceEnabled>
            <relaysEnabled>false</relaysEnabled><natEnabled>false</natEnabled><urAccepted>-1</urAccepted>
            <reconnectionIntervalS>1</reconnectionIntervalS><autoUpgradeIntervalH>0</autoUpgradeIntervalH>
            <crashReportingEnabled>false</crashReportingEnabled>
            </options>
            </configuration>
            """
    }
}
