import ByteClubFiles
import Glibc

extension FileFailure {
    /// Which exit code this failure is.
    var status: ExitStatus {
        switch (operation, code) {
        case (_, ENOSPC), (_, EDQUOT), (_, EIO): .inputOutput
        case ("read", _): .noInput
        case ("create", _): .cannotCreate
        default: .inputOutput
        }
    }
}
