import ByteClubCore
import TestSupport
import Testing

@Suite("Filters of photos")
struct PhotoFilterTests {
    @Test("a circle is read from degrees and kilometres, written so that it is read again, and nothing else is one")
    func text() throws {
        let circle = try #require(GeographicCircle("46.02, -7.75,5"))
        #expect(circle.centre == MediaInfo.Place(latitude: 46.02, longitude: -7.75) && circle.radius == 5)
        #expect(GeographicCircle("46.02,-7.75")?.radius == GeographicCircle.usualRadius)
        for text in ["46.02,-7.75,5", "0.00001,0", "-90,180,20040"] {
            let circle = try #require(GeographicCircle(text))
            #expect(GeographicCircle(circle.description) == circle)
        }
        for text in [
            "", "1", "1,", "a,b", "90.1,0", "0,-180.1", "0,0,0", "0,0,-1", "0,0,20041", "0,0,1,2", "nan,0", "inf,0",
            "0x1,0",
        ] {
            #expect(GeographicCircle(text) == nil, "\(text)")
        }
    }

    @Test(
        "distances are right to half a percent, across the date line and at the poles, and all that is in it is in its box"
    )
    func distances() throws {
        // Kilometres between cities along a great circle, from the coordinates that are told here.
        for (from, to, distance) in [
            ("52.52,13.405", "48.8566,2.3522", 877.5), ("-33.8688,151.2093", "-36.8485,174.7633", 2155.5),
            ("64.1466,-21.9426", "35.6762,139.6503", 8800.0),
        ] {
            for (factor, isIn) in [(0.994, false), (1.006, true)] {
                let circle = try #require(GeographicCircle("\(from),\(distance * factor)"))
                let place = try #require(GeographicCircle(to)).centre
                #expect(circle.contains(place) == isIn, "\(from) \(to) \(factor)")
            }
        }
        // What fails prints its circle and its place.
        var generator = SeededGenerator(seed: 13)
        for _ in 0..<2000 {
            let (north, east) = (
                Double.random(in: -90...90, using: &generator), Double.random(in: -180...180, using: &generator)
            )
            let radius: Double = [0.5, 20, 800, 9000].randomElement(using: &generator) ?? 1
            let circle = try #require(GeographicCircle("\(north),\(east),\(radius)"))
            // Near it, so that many are in it.
            let reach = radius / 111
            let place = MediaInfo.Place(
                latitude: min(90, max(-90, north + Double.random(in: -reach...reach, using: &generator))),
                longitude: (east + Double.random(in: -min(reach * 2, 180)...min(reach * 2, 180), using: &generator))
                    .remainder(dividingBy: 360))
            guard circle.contains(place) else { continue }
            #expect(circle.latitudes.contains(place.latitude), "\(circle) \(place)")
            #expect(circle.longitudes.contains { $0.contains(place.longitude) }, "\(circle) \(place)")
        }
    }

    @Test("a photo matches when all that is asked for holds, and what is not known of it never does")
    func matches() throws {
        let place = MediaInfo.Place(latitude: 46, longitude: 7)
        let near = try #require(GeographicCircle("46,7,1"))
        let date = APIDate(seconds: 100)
        let all = PhotoFilter(kinds: [.sphere], since: date, until: APIDate(seconds: 101), near: near)
        #expect(all.matches(kind: .sphere, date: date, place: place))
        #expect(
            !all.matches(kind: .flat, date: date, place: place) && !all.matches(kind: nil, date: date, place: place))
        #expect(!all.matches(kind: .sphere, date: APIDate(seconds: 101), place: place))
        #expect(!all.matches(kind: .sphere, date: nil, place: place))
        #expect(!all.matches(kind: .sphere, date: date, place: nil))
        #expect(PhotoFilter().matches(kind: nil, date: nil, place: nil) && PhotoFilter().isEmpty)
        #expect(PhotoFilter.kinds("sphere,strip") == [.sphere, .strip] && PhotoFilter.kinds("") == nil)
        #expect(PhotoFilter.moment("2013-08-05") == PhotoFilter.moment("2013-08-05T00:00:00Z"))
        #expect(PhotoFilter.moment("2013-8-5") == nil && PhotoFilter.moment("2013-02-29") == nil)
    }
}
