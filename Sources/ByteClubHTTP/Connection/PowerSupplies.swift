import ByteClubFiles

/// The machine's power supplies (Documentation/ABI/testing/sysfs-class-power of Linux).
struct PowerSupplies {
    /// The files of one supply, without white space at their ends.
    struct Supply: Hashable {
        /// `Battery`, `UPS`, `Mains`, `USB`, `Wireless`, and further ones of USB.
        var type: String
        /// `1` or `2` if it is online; batteries have none.
        var online = ""
        /// A battery's state, such as `Discharging`.
        var status = ""
        /// `Device` for the supply of a peripheral.
        var scope = ""
    }

    /// Whether the machine has a battery of its own.
    let hasBattery: Bool
    /// Whether it runs on it.
    let isOnBattery: Bool

    init(_ supplies: [Supply]) {
        let own = supplies.filter { $0.scope != "Device" }
        let batteries = own.filter { $0.type == "Battery" || $0.type == "UPS" }
        hasBattery = !batteries.isEmpty
        isOnBattery =
            batteries.contains { $0.status == "Discharging" }
            && !own.contains { $0.type != "Battery" && $0.type != "UPS" && ["1", "2"].contains($0.online) }
    }

    /// Reads the supplies in a folder; blocks as long as the kernel asks the hardware, usually some milliseconds.
    init(_ folder: String) {
        func text(_ name: String, _ file: String) -> String {
            let text = fileText("\(folder)/\(name)/\(file)", upTo: 64) ?? ""
            return String(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
        let names = (try? Array(FolderNames(folder).prefix(Self.most))) ?? []
        self.init(
            names.map { name in
                Supply(
                    type: text(name, "type"), online: text(name, "online"), status: text(name, "status"),
                    scope: text(name, "scope"))
            })
    }

    private static let most = 64
}
