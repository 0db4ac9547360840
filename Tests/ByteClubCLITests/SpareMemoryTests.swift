import Testing

@testable import ByteClubCLI

@Suite("Spare memory") struct SpareMemoryTests {
    @Test("only mapped files that nobody can write and nobody has written are let go of")
    func unwritten() {
        let text = """
            1000-3000 r-xp 00000000 fe:00 42                         /usr/bin/a program
            Size:                  8 kB
            Anonymous:             0 kB
            3000-4000 r--p 00002000 fe:00 42                         /usr/bin/a program
            Anonymous:             4 kB
            4000-5000 rw-p 00003000 fe:00 42                         /usr/bin/a program
            Anonymous:             0 kB
            5000-6000 rw-p 00000000 00:00 0                          [heap]
            Anonymous:             0 kB
            6000-7000 r-xp 00000000 00:00 0                          [vdso]
            Anonymous:             0 kB
            7000-8000 r--s 00000000 fe:00 43                         /var/cache
            Anonymous:             0 kB
            8000-9000 r--p 00000000 fe:00 44                         /lib/libc.so.6
            Anonymous:             0 kB
            nonsense
            9-8 r-xp 0 0 0 /x
            Anonymous:             0 kB
            """
        #expect(SpareMemory.unwritten(in: Array(text.utf8)) == [0x1000..<0x3000, 0x8000..<0x9000])
    }
}
