import Testing

@testable import ByteClubCLI

@Suite("Spare memory") struct SpareMemoryTests {
    @Test("only code that nobody has written is let go of")
    func unwritten() {
        let mappings = [
            ("1000-3000 r-xp 00000000 fe:00 42                         /usr/bin/a program", "0", "0"),
            ("3000-4000 r--p 00002000 fe:00 42                         /usr/bin/a program", "0", "0"),
            ("4000-5000 rw-p 00003000 fe:00 42                         /usr/bin/a program", "0", "0"),
            ("5000-6000 rwxp 00000000 00:00 0                          [heap]", "0", "0"),
            ("6000-7000 r-xp 00000000 00:00 0                          [vdso]", "0", "0"),
            ("7000-8000 r-xp 00000000 fe:00 44                         /lib/libc.so.6", "0", "0"),
            ("8000-9000 r-xp 00000000 fe:00 45                         /lib/patched.so", "4", "0"),
            ("9000-a000 r-xp 00000000 fe:00 46                         /lib/patched and swapped.so", "0", "4"),
            ("b000-a000 r-xp 0 0 0 /backwards", "0", "0"), ("nonsense", "0", "0"),
        ]
        let text = mappings.map { "\($0.0)\nRss: 4 kB\nAnonymous: \($0.1) kB\nSwap:   \($0.2) kB\n" }.joined()
        #expect(SpareMemory.unwritten(in: Array(text.utf8)) == [0x1000..<0x3000, 0x7000..<0x8000])
        #expect(SpareMemory.unwritten(in: Array("1000-3000 r-xp 0 0 0 /a\nAnonymous:\nSwap:\n".utf8)).isEmpty)
    }
}
