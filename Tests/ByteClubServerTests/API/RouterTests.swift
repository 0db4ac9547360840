import HTTPTypes
import Testing

@testable import ByteClubServer

@Suite struct RouterTests {
    @Test("every endpoint is found by its name, and nothing else is")
    func all() {
        for endpoint in Endpoint.all {
            for address in endpoint.addresses {
                let components = address.split(separator: "/").map(String.init)
                let match = Router.standard.match(components + (endpoint.tail.accepts(0) ? [] : ["x"]))
                for method in endpoint.methods { #expect(match?.endpoint(for: method)?.name == endpoint.name) }
            }
        }
        let wrong = [
            ["1"], ["2", "delta"], ["1", "nothing"], ["1", "delta", "x"], ["1", "fileops"], ["1", ".."],
            ["1", "login"],
            ["delta"], ["invite"], ["invite", "x", "y"], ["1", "invite", "x"], ["1", "sync", "chunks", "x", "y"],
        ]
        for components in wrong { #expect(Router.standard.match(components) == nil, "\(components)") }
    }

    @Test("no two endpoints answer to one method at one address, and those of one address take the same tails")
    func distinct() {
        for endpoints in Dictionary(grouping: Endpoint.all, by: \.name).values {
            let methods = endpoints.flatMap(\.methods)
            #expect(Set(methods).count == methods.count)
            #expect(endpoints.allSatisfy { $0.tail == endpoints[0].tail && $0.hidesTail == endpoints[0].hidesTail })
        }
    }

    @Test("what follows a name is its tail, by the longest name that fits")
    func tails() {
        #expect(Router.standard.match(["1", "files", "auto", "a", "b.md"])?.tail == ["auto", "a", "b.md"])
        #expect(Router.standard.match(["1", "sync", "chunks", "0a"])?.tail == ["0a"])
        #expect(Router.standard.match(["1", "sync", "chunks", "need"])?.endpoints.map(\.name) == ["sync/chunks/need"])
        #expect(Router.standard.match(["s"])?.tail == [])
        #expect(Router.standard.match(["1", "files"])?.methods == [.get, .head, .post])
    }
}
