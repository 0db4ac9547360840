import Glibc

extension StorageError {
    /// Tells what a system call's error number means.
    init(errno number: Int32, _ action: String) {
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        self.init(number == ENOSPC || number == EDQUOT ? .full : .io, "\(action): \(reason)")
    }
}
