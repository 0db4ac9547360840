import HTTPTypes
import TestSupport
import Testing

@testable import ByteClubHTTP

struct DaemonFrameTests {
    @Test("every message survives encoding and decoding, and its bytes never vary")
    func roundTrip() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("frames: seed \(seed)")
        var records = RandomRecords(seed: seed)
        for _ in 0..<2000 {
            let frame = records.frame()
            let bytes = frame.encoded
            let read = try DaemonFrame(decoding: bytes[...])
            #expect(read == frame, "seed \(seed)")
            #expect(read.encoded == bytes, "seed \(seed)")
        }
    }

    @Test("a truncated, longer or changed message is an error or another message, and never traps")
    func damage() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("damaged frames: seed \(seed)")
        var records = RandomRecords(seed: seed)
        for _ in 0..<60 {
            let bytes = records.frame().encoded
            for count in bytes.indices {
                #expect(throws: RecordReader.Damage.self, "seed \(seed)") { try DaemonFrame(decoding: bytes[..<count]) }
            }
            #expect(throws: RecordReader.Damage.self, "seed \(seed)") { try DaemonFrame(decoding: (bytes + [0])[...]) }
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 1 << UInt8(records.number(0...7))
                if let read = try? DaemonFrame(decoding: changed[...]) {
                    #expect(try DaemonFrame(decoding: read.encoded[...]) == read, "seed \(seed)")
                }
            }
        }
    }

    @Test("random bytes are an error, or a message that can be encoded again")
    func nonsense() {
        let seed = UInt64.random(in: 0 ... .max)
        print("random frames: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<10_000 {
            // Small numbers in eight bytes, as kinds and lengths have them, get further than any bytes.
            let bytes = (0..<Int.random(in: 0..<30, using: &random)).flatMap { _ in
                [UInt8.random(in: 0...12, using: &random)]
                    + (Bool.random(using: &random) ? [UInt8](repeating: 0, count: 7) : [])
            }
            if let read = try? DaemonFrame(decoding: bytes[...]) {
                #expect((try? DaemonFrame(decoding: read.encoded[...])) == read, "seed \(seed)")
            }
        }
    }

    @Test("an impossible number of values is an error before memory is allocated")
    func counts() {
        for count: Int64 in [-1, 1, 1 << 20, .max, .min] {
            var writer = RecordWriter()
            for number in [0, 7, 5, count] { writer.put(number) }
            #expect(throws: RecordReader.Damage.self) { try DaemonFrame(decoding: writer.bytes[...]) }
        }
    }

    @Test("more fields than a request can hold are an error")
    func fields() {
        var writer = RecordWriter()
        writer.put(Array(repeating: HTTPField(name: .age, value: ""), count: 70_000))
        var reader = RecordReader(writer.bytes[...])
        #expect(throws: RecordReader.Damage.self) { try HTTPFields(&reader) }
    }
}
