import Testing

@testable import ByteClubHTTP

struct TrustBookTests {
    private func subject(_ port: Int, _ digest: UInt8 = 1) -> TrustBook.Subject {
        TrustBook.Subject(origin: Origin(scheme: .https, host: "a", port: port), digests: [digest])
    }

    private func ask(_ book: TrustBook, about subject: TrustBook.Subject) -> UInt64 {
        let number = book.nextNumber()
        book.questions[subject] = TrustBook.Question(number: number, waiting: [])
        return number
    }

    @Test("an answer counts for its origin and chain alone, and only while its question is open")
    func answers() {
        let book = TrustBook()
        let (old, other) = (ask(book, about: subject(1)), ask(book, about: subject(2)))
        #expect(book.isAsking(about: subject(1).origin) && !book.isAsking(about: subject(3).origin))
        // The first question was given up, and the server is asked about again.
        let new = ask(book, about: subject(1))
        _ = book.take(TrustBook.Answer(subject: subject(1), number: old, isTrusted: true))
        #expect(book.verdict(about: subject(1)) == nil && book.isAsking(about: subject(1).origin))
        _ = book.take(TrustBook.Answer(subject: subject(1), number: new, isTrusted: false))
        _ = book.take(TrustBook.Answer(subject: subject(1), number: new, isTrusted: true))
        _ = book.take(TrustBook.Answer(subject: subject(2), number: other, isTrusted: true))
        #expect(book.verdict(about: subject(1)) == false && book.verdict(about: subject(2)) == true)
        #expect(book.verdict(about: subject(2, 2)) == nil && book.verdict(about: subject(3)) == nil)
        #expect(!book.isAsking(about: subject(1).origin))
    }

    @Test("verdicts do not fill the memory: a server may be asked about again, and is never accepted unasked")
    func limit() {
        let book = TrustBook()
        for port in 1...5000 {
            let number = ask(book, about: subject(port))
            _ = book.take(TrustBook.Answer(subject: subject(port), number: number, isTrusted: port % 2 == 0))
            #expect(book.verdict(about: subject(port)) == (port % 2 == 0))
        }
        let kept = (1...5000).filter { book.verdict(about: subject($0)) != nil }
        #expect((1...1024).contains(kept.count))
        #expect(kept.allSatisfy { book.verdict(about: subject($0)) == ($0 % 2 == 0) })
    }
}
