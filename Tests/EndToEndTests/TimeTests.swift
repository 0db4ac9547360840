import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Times") struct TimeTests {
        /// Zones by their rules, so that no machine needs a table of zones.
        private static let zones = [
            "losAngeles": "PST8PDT,M3.2.0,M11.1.0", "auckland": "NZST-12NZDT,M9.5.0,M4.1.0/3", "kolkata": "IST-5:30",
            "berlin": "CET-1CEST,M3.5.0,M10.5.0/3", "greenwich": "UTC0",
        ]

        /// Photos by what a clock showed at their places: around midnight, in the hour that Berlin's clocks leave out,
        /// and twice in the hour that they have twice.
        private static let photos: [(name: String, clock: String, offset: String?)] = [
            ("seoul", "2025-06-22T00:30:00", "+09:00"), ("camera", "2025-06-22T14:00:00", nil),
            ("phone", "2025-06-22T14:05:00", "+02:00"), ("samoa", "2025-06-22T23:59:59", "-11:00"),
            ("kiribati", "2025-06-23T00:00:00", "+14:00"), ("gap", "2025-03-30T02:30:00", nil),
            ("summer", "2025-10-26T02:30:00", "+02:00"), ("winter", "2025-10-26T02:31:00", "+01:00"),
            ("early", "1965-01-01T08:00:00", nil),
        ]

        private func fill(_ ann: MemberMachine) async throws {
            let picture = Fixture.bytes("panoramas/portrait.jpg")
            var files: [String] = []
            for photo in Self.photos {
                let date = photo.clock.map { $0 == "-" ? ":" : $0 == "T" ? " " : String($0) }.joined()
                let file = ann.home + "/\(photo.name).jpg"
                try LocalFiles.write(DatedPhoto.bytes(picture, taken: date, offset: photo.offset), to: file)
                files.append(file)
            }
            let result = try await ann.start(["photos", "upload"] + files).result()
            #expect(result.status == 0, "\(result)")
        }

        @Test(
            "a photo has the hour and the day of its place in lists, searches and its own facts, wherever server and reader are"
        )
        func places() async throws {
            for serverZone in ["losAngeles", "auckland"] {
                let folder = try TemporaryDirectory()
                let server = try await ServerProcess(
                    data: folder.path + "/data", environment: ["TZ": try #require(Self.zones[serverZone])])
                defer { server.process?.kill9() }
                let token = try await server.addMember("ann")
                let ann = MemberMachine("ann", in: folder.path)
                let login = try await ann.byteclub(
                    "login", server.url, "--token-stdin", input: Array("\(token)\n".utf8))
                #expect(login.status == 0, "\(login)")
                try await fill(ann)
                for zone in Self.zones.values { try await check(ann, in: zone) }
            }
        }

        private func check(_ ann: MemberMachine, in zone: String) async throws {
            let environment = ["TZ": zone]
            func names(_ arguments: String...) async throws -> [String] {
                let result = try await ann.start(["photos", "list"] + arguments, environment: environment).result()
                #expect(result.status == 0, "\(zone): \(result)")
                return result.lines.map { String($0.prefix { $0 != "." }) }
            }
            let byClock = Self.photos.sorted { $0.clock > $1.clock }.map(\.name)
            #expect(try await names("--sort", "date") == byClock, "\(zone)")
            #expect(
                Set(try await names("--since", "2025-06-22", "--until", "2025-06-22"))
                    == ["seoul", "camera", "phone", "samoa"], "\(zone)")
            #expect(
                try await names("--since", "2025-10-26 02:30", "--until", "2025-10-26 02:31") == ["summer"], "\(zone)")
            #expect(try await names("--since", "2025-03-30 02:30", "--until", "2025-03-30") == ["gap"], "\(zone)")
            let table = try await ann.start(
                ["photos", "list"], environment: environment, terminals: [.output], columns: 120
            ).result().text
            let json = try await ann.start(["photos", "list", "--json"], environment: environment).result().text
            for photo in Self.photos {
                let shown = photo.clock.prefix(16).split(separator: "T").joined(separator: " ")
                let line = table.split(separator: "\n").first { $0.hasPrefix(photo.name + ".jpg") }
                #expect(line?.contains(shown) == true, "\(zone): \(table)")
                #expect(json.contains("\"taken\" : \"\(photo.clock)\(photo.offset ?? "")\""), "\(zone): \(json)")
                let info = try await ann.start(["photos", "info", photo.name + ".jpg"], environment: environment)
                    .result()
                let taken = info.lines.first { $0.hasPrefix("taken") } ?? ""
                #expect(taken.contains(shown + (photo.offset.map { " (UTC\($0))" } ?? "")), "\(zone): \(info)")
            }
            #expect(!table.contains("CHANGED"), "one column has the clocks of the places alone: \(table)")
        }

        @Test(
            "what does not say when it was taken has its file's time: by the reader's clock in lists, by the server's in searches"
        )
        func files() async throws {
            let folder = try TemporaryDirectory()
            let server = try await ServerProcess(
                data: folder.path + "/data", environment: ["TZ": try #require(Self.zones["losAngeles"])])
            defer { server.process?.kill9() }
            let token = try await server.addMember("ann")
            let ann = MemberMachine("ann", in: folder.path)
            _ = try await ann.byteclub("login", server.url, "--token-stdin", input: Array("\(token)\n".utf8))
            // 05:00 of 22 June in Greenwich is 22:00 of the day before in Los Angeles, and 17:00 in Auckland.
            let moment = timespec(tv_sec: 1_750_568_400, tv_nsec: 0)
            let (photo, note) = (ann.home + "/plain.jpg", ann.mirror + "/plan.md")
            try LocalFiles.write(Fixture.bytes("panoramas/portrait.jpg"), to: photo)
            try LocalFiles.write("Plan\n", to: note)
            for file in [photo, note] { _ = unsafe utimensat(AT_FDCWD, file, [moment, moment], 0) }
            #expect(try await ann.byteclub("photos", "upload", photo).status == 0)
            #expect(try await ann.sync().status == 0)
            func lines(_ arguments: [String], _ zone: String) async throws -> [String] {
                let result = try await ann.start(
                    arguments, environment: ["TZ": try #require(Self.zones[zone])], terminals: [.output], columns: 120
                ).result()
                return result.text.split(separator: "\n").map(String.init)
            }
            for (zone, shown) in [("auckland", "2025-06-22 17:00"), ("losAngeles", "2025-06-21 22:00")] {
                for arguments in [["photos", "list"], ["notes", "list"]] {
                    let list = try await lines(arguments, zone)
                    #expect(list.first?.contains("CHANGED") == true && list.last?.contains(shown) == true, "\(list)")
                }
            }
            for (day, names) in [("2025-06-21", ["plain.jpg"]), ("2025-06-22", [])] {
                let found = try await ann.byteclub("photos", "list", "--since", day, "--until", day)
                #expect(found.lines.map { $0.split(separator: "\t").first.map(String.init) } == names, "\(found)")
            }
            let verified = try await Program.run(
                "byteclub-server", ["verify", "--data", server.data],
                environment: ["TZ": try #require(Self.zones["auckland"])])
            #expect(verified.status == 0, "the dates of another zone are no damage: \(verified)")
            let json = try await ann.byteclub("notes", "list", "--json").text
            #expect(json.contains("\"mtime\" : \"2025-06-22T05:00:00Z\""), "\(json)")
        }
    }
}
