import Glibc
import Testing

@testable import ByteClubSync

@Suite("What people are told of the file system's refusals") struct FileErrorTests {
    @Test("a folder that may not be written is named with what mends it")
    func folder() {
        let error = FileError(operation: "rename", path: "/home/ada/my club/Gear/Ideas 166.md", code: EACCES)
        #expect(
            error.description == "its folder cannot be written: Permission denied; make it writable, as by "
                + "chmod u+w '/home/ada/my club/Gear'")
        let readOnly = FileError(operation: "remove", path: "/mnt/club/a.md", code: EROFS)
        #expect(readOnly.description == "its folder cannot be written: Read-only file system")
    }

    @Test("the engine's own names are shown to nobody")
    func own() {
        let error = FileError(operation: "write", path: "/home/ada/club/.byteclub/staging/x-214-b40b", code: ENOSPC)
        #expect(error.description == "cannot write '/home/ada/club/.byteclub': No space left on device")
    }
}
