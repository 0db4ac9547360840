import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("A list of some photos")
struct PhotoFilterTests {
    @Test(
        "takes kinds, moments and places, and finds none where there are none",
        arguments: [
            ["--kind", "strip,flat"], ["--since", "2w"], ["--since", "2026-08-01", "--until", "2026-08-01"],
            ["--near", "-33.9,18.4"], ["--near", "46.02,7.75,5", "--until", "2999-01-01 10:00"],
        ])
    func none(arguments: [String]) async throws {
        let world = try World()
        #expect(await ByteClub.run(["photos", "list"] + arguments, in: world.context()) == .success, "\(world.err)")
        #expect(world.out.isEmpty)
    }

    @Test("says in one line that an older server tells nothing of photos as pictures")
    func unknown() async throws {
        let world = try World()
        #expect(await world.run("photos", "upload", Fixture.path("panoramas/city.jpg")) == .success)
        #expect(await world.run("photos", "list", "--since", "2w") == .unavailable)
        #expect(world.out.isEmpty && world.err.split(separator: "\n").count == 1, "\(world.err)")
        #expect(world.err.contains("does not support --kind"))
    }

    @Test("is of a day until its end, by the clocks of the places, and of a moment until that by the reader's")
    func moments() throws {
        func span(_ since: String?, _ until: String?) throws -> [Int64?] {
            let span = try PhotoFilterOptions.span(since: since, until: until, now: 1_000_000) {
                CalendarTime.utc($0 + 3600)
            }
            return [span.since, span.until]
        }
        #expect(try span("1970-01-02", "1970-01-02") == [86_400, 172_800])
        #expect(try span(nil, "1970-01-02 00:00") == [nil, 86_400])
        #expect(try span("1970-01-02T02:00:00+02:00", nil) == [90_000, nil])
        #expect(try span("1d", nil) == [917_200, nil])
    }
}
