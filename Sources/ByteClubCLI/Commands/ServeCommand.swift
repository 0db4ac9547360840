import ArgumentParser

/// Does what `byteclub serve …` asks for.
struct ServeCommand: HostingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Host a club on this machine (runs byteclub-server).",
        usage: "byteclub serve [<arguments of byteclub-server> ...]",
        discussion: """
            Example:
              byteclub serve --data /srv/club --listen 127.0.0.1:8080 --name 'Panorama Club'
            """)

    @OptionGroup var rest: HandedOn
}
