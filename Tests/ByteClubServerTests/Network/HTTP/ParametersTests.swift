import ByteClubCore
import Testing

@testable import ByteClubServer

@Suite struct ParametersTests {
    @Test("a plus is a blank, escapes are decoded and an empty value counts as absent")
    func decoding() throws {
        let parameters = try Parameters(query: "query=a+b%2Bc&empty=&flag&caf%C3%A9=%E2%98%95")
        #expect(parameters["query"] == "a b+c")
        #expect(parameters["empty"] == nil)
        #expect(parameters["flag"] == nil)
        #expect(parameters["caf\u{E9}"] == "\u{2615}")
    }

    @Test("the form wins over the query")
    func merging() throws {
        var parameters = try Parameters(query: "a=query&b=only")
        try parameters.add(form: Array("a=form".utf8))
        #expect(parameters["a"] == "form")
        #expect(parameters["b"] == "only")
    }

    @Test("an escape that is cut off and bytes that are no UTF-8 are refused", arguments: ["a=%2", "a=%zz", "a=%FF"])
    func malformed(query: String) {
        #expect { try Parameters(query: query[...]) } throws: { ($0 as? APIError)?.status == 400 }
    }

    @Test("booleans are true, false in any case, 1 and 0, and nothing else")
    func booleans() throws {
        let parameters = try Parameters(query: "a=True&b=FALSE&c=1&d=0&e=yes")
        #expect(try parameters.bool("a", default: false))
        #expect(try !parameters.bool("b", default: true))
        #expect(try parameters.bool("c", default: false))
        #expect(try !parameters.bool("d", default: true))
        #expect(try parameters.bool("absent", default: true))
        #expect { try parameters.bool("e", default: true) } throws: { ($0 as? APIError)?.parameter == "e" }
    }

    @Test("numbers are decimal and within their limits")
    func integers() throws {
        let parameters = try Parameters(query: "a=25&b=x&c=26&d=%2B5&e=99999999999999999999")
        #expect(try parameters.integer("a", in: 1...25) == 25)
        #expect(try parameters.integer("absent", in: 1...25) == nil)
        for name in ["b", "c", "d", "e"] {
            #expect { try parameters.integer(name, in: 1...25) } throws: { ($0 as? APIError)?.status == 400 }
        }
    }
}
