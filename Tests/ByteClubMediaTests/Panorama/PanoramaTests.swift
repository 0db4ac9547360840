import Testing

@testable import ByteClubMedia

@Suite struct PanoramaTests {
    private static func panorama(_ tags: String, width: Int = 240, height: Int = 120, orientation: Int = 1) throws
        -> Panorama
    {
        let jpeg = MakingJPEGs.with(
            try MakingJPEGs.quarters(width: width, height: height), exif: MakingJPEGs.exif(orientation: orientation),
            xmp: tags)
        return Panorama(header: try JPEGHeader(bytes: jpeg))
    }

    private static func element(_ pairs: KeyValuePairs<String, String>, prefix: String = "GPano") -> String {
        let body = pairs.map { "<\(prefix):\($0)> \($1)\n</\(prefix):\($0)>" }.joined()
        return """
            <?xpacket begin=''?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>
            <rdf:Description xmlns:\(prefix)="\(GPano.namespace)">\(body)</rdf:Description></rdf:RDF></x:xmpmeta>
            """
    }

    @Test("every whole sphere among the fixtures is told as one", arguments: Photos.spheres + ["progressive"])
    func spheres(name: String) throws {
        let panorama = Panorama(header: try JPEGHeader(file: Photos.path(name)))
        #expect(panorama.kind == .sphere)
        #expect(panorama.hFOV == 360)
        #expect(panorama.vFOV == 180)
        #expect(panorama.pitch == 0)
    }

    @Test("a part of a sphere has its angles from the crop tags")
    func partial() throws {
        let panorama = Panorama(header: try JPEGHeader(file: Photos.path("partial")))
        #expect(panorama.kind == .partialSphere)
        #expect(panorama.hFOV == 168.75)
        #expect(panorama.vFOV == 84.375)
        #expect(panorama.yaw == 9.84375)
        #expect(panorama.pitch == 5.625)
    }

    @Test("a phone's strip is told by its EXIF tag and its angles are a guess")
    func phone() throws {
        let panorama = Panorama(header: try JPEGHeader(file: Photos.path("phone-strip")))
        #expect(panorama.kind == .strip)
        #expect(panorama.isEstimate)
        #expect(panorama.hFOV == 240)
    }

    @Test("an upright photo is flat")
    func flat() throws {
        let panorama = Panorama(header: try JPEGHeader(file: Photos.path("portrait")))
        #expect(panorama.kind == .flat)
        #expect(panorama.hFOV == nil)
        #expect(panorama.orientation == 6)
    }

    @Test("tags count whatever their prefix, quotes and spelling are")
    func spellings() throws {
        let uri = GPano.namespace
        let spellings = [
            Self.element(["ProjectionType": "equirectangular"]),
            Self.element(["ProjectionType": "equirectangular"], prefix: "p"),
            "<a xmlns:GPano='\(uri)' GPano:ProjectionType='equirectangular'/>",
            "<a\n xmlns:q = \"\(uri)\"\n q:ProjectionType = \"equirectangular\" />",
            "<a xmlns:q=\"\(uri)\"><!-- <q:ProjectionType>fisheye</q:ProjectionType> --><q:ProjectionType>equirectangular</q:ProjectionType></a>",
            "<ProjectionType xmlns='\(uri)'>&#x65;quirect&#97;ngular</ProjectionType>",
        ]
        for spelling in spellings {
            #expect(try Self.panorama(spelling).kind == .sphere, "\(spelling)")
        }
    }

    @Test("the familiar prefix bound to another namespace counts for nothing")
    func foreignNamespace() throws {
        let xmp = "<a xmlns:GPano='http://example.org/' GPano:ProjectionType='equirectangular'/>"
        #expect(try Self.panorama(xmp).kind == .strip)
        let inner =
            "<a xmlns:p='\(GPano.namespace)'><b xmlns:p='urn:x'><p:ProjectionType>equirectangular</p:ProjectionType></b></a>"
        #expect(try Self.panorama(inner).kind == .strip)
    }

    @Test("a photo that asks for no viewer is flat even when it is a sphere")
    func noViewer() throws {
        let xmp = Self.element(["ProjectionType": "equirectangular", "UsePanoramaViewer": "False"])
        #expect(try Self.panorama(xmp).kind == .flat)
    }

    @Test("sizes left behind by an editor give the right angles, since only ratios count")
    func staleSizes() throws {
        let xmp = Self.element([
            "ProjectionType": "equirectangular", "FullPanoWidthPixels": "15872", "FullPanoHeightPixels": "7936",
            "CroppedAreaImageWidthPixels": "15872", "CroppedAreaImageHeightPixels": "2606",
        ])
        let panorama = try Self.panorama(xmp)
        #expect(panorama.kind == .partialSphere)
        #expect(panorama.hFOV == 360)
        #expect(abs((panorama.vFOV ?? 0) - 59.1079) < 0.001)
        #expect(panorama.pitch == 0)
    }

    @Test("crops outside the sphere and senseless numbers are pulled into range")
    func repairs() throws {
        for value in ["-1e300", "nan", "inf", "0", "-50", "99999999999999999999", "1e8", ""] {
            let xmp = Self.element([
                "ProjectionType": "equirectangular", "FullPanoWidthPixels": value, "CroppedAreaImageWidthPixels": "200",
                "CroppedAreaTopPixels": value, "CroppedAreaLeftPixels": value, "FullPanoHeightPixels": "7",
            ])
            let panorama = try Self.panorama(xmp)
            #expect((0...360).contains(panorama.hFOV ?? -1), "\(value)")
            #expect((0...180).contains(panorama.vFOV ?? -1), "\(value)")
            #expect((-90...90).contains(panorama.pitch), "\(value)")
            #expect((-180...180).contains(panorama.yaw), "\(value)")
        }
    }

    @Test("a cylinder is told by its projection")
    func cylinder() throws {
        #expect(try Self.panorama(Self.element(["ProjectionType": "Cylindrical"])).kind == .cylinder)
    }

    @Test("a sphere that claims to lie on its side is not turned, upside down it is")
    func sphereOrientation() throws {
        let xmp = Self.element(["ProjectionType": "equirectangular"])
        #expect(try Self.panorama(xmp, orientation: 6).orientation == 1)
        #expect(try Self.panorama(xmp, orientation: 3).orientation == 3)
    }

    @Test("without tags a long side of twice the short makes a strip, seen upright")
    func shapes() throws {
        #expect(try Self.panorama("", width: 200, height: 100).kind == .strip)
        #expect(try Self.panorama("", width: 199, height: 100).kind == .flat)
        #expect(try Self.panorama("", width: 100, height: 210).kind == .strip)
        #expect(try Self.panorama("", width: 210, height: 100, orientation: 6).kind == .strip)
    }

    @Test("a person's choice beats the rule, and its angles come from the tags or the shape")
    func override() throws {
        let partial = try JPEGHeader(file: Photos.path("partial"))
        #expect(Panorama(header: partial, view: .flat).kind == .flat)
        #expect(Panorama(header: partial, view: .flat).hFOV == nil)
        let whole = Panorama(header: partial, view: .sphere)
        #expect(whole.kind == .sphere && whole.hFOV == 360 && whole.vFOV == 180 && whole.yaw == 0)
        #expect(Panorama(header: partial, view: .cylinder).hFOV == 168.75)
        let plain = try JPEGHeader(file: Photos.path("portrait"))
        let guess = Panorama(header: plain, view: .partialSphere)
        #expect(guess.hFOV == 135 && guess.vFOV == 180 && guess.isEstimate)
        #expect(guess.seenWidth == 300 && guess.seenHeight == 400)
        let phone = try JPEGHeader(file: Photos.path("phone-strip"))
        let cylinder = Panorama(header: phone, view: .cylinder)
        #expect(cylinder.hFOV == 240 && cylinder.isEstimate)
        #expect(abs((cylinder.vFOV ?? 0) - 240 * 228 / 1024) < 0.001)
        for kind in Panorama.Kind.allCases {
            #expect(Panorama(header: plain, view: kind).kind == kind)
        }
        let side = MakingJPEGs.with(try MakingJPEGs.quarters(), exif: MakingJPEGs.exif(orientation: 6))
        let lying = Panorama(header: try JPEGHeader(bytes: side), view: .sphere)
        #expect(lying.orientation == 1 && lying.seenWidth == 240 && lying.seenHeight == 120)
    }

    @Test("the heading is the pose's, and the first view is found from it")
    func headings() throws {
        func read(_ tags: KeyValuePairs<String, String>) throws -> Panorama {
            let all = "<x xmlns:g='\(GPano.namespace)' g:ProjectionType='equirectangular' "
            return try Self.panorama(all + tags.map { "g:\($0)='\($1)'" }.joined(separator: " ") + "/>")
        }
        #expect(Panorama(header: try JPEGHeader(file: Photos.path("sunset"))).heading == 330)
        #expect(try read([:]).heading == nil && read([:]).initialView == nil)
        let both = try read([
            "PoseHeadingDegrees": "350", "InitialViewHeadingDegrees": "20.5", "InitialViewPitchDegrees": "-12",
        ])
        #expect(both.heading == 350 && both.initialView == PanoramaDirection(yaw: 30.5, pitch: -12))
        #expect(try read(["PoseHeadingDegrees": "-90"]).heading == 270)
        let initial = try read(["InitialViewHeadingDegrees": "190", "InitialViewPitchDegrees": "900"]).initialView
        #expect(initial == PanoramaDirection(yaw: -170, pitch: 90))
    }

    @Test("a full height that is not half the width still has the horizon in its middle")
    func flatCylinder() throws {
        let xmp = Self.element([
            "ProjectionType": "cylindrical", "FullPanoWidthPixels": "8000", "FullPanoHeightPixels": "1500",
            "CroppedAreaImageWidthPixels": "8000", "CroppedAreaImageHeightPixels": "1500",
            "CroppedAreaLeftPixels": "0", "CroppedAreaTopPixels": "0",
        ])
        let panorama = try Self.panorama(xmp)
        #expect(panorama.kind == .cylinder && panorama.hFOV == 360 && panorama.vFOV == 67.5 && panorama.pitch == 0)
    }

    @Test("real photos are told right", .enabled(if: Photos.fetched != nil))
    func realPhotos() throws {
        let directory = try #require(Photos.fetched)
        for (name, kind) in [
            ("1", Panorama.Kind.sphere), ("1_blurred", .sphere), ("d1", .sphere), ("crop", .partialSphere),
            ("c1", .flat),
        ] {
            #expect(Panorama(header: try JPEGHeader(file: directory + name + ".jpg")).kind == kind, "\(name)")
        }
    }
}
