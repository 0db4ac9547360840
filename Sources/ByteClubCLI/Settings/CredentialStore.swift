import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc

/// The file with the token, which only its owner may read.
struct CredentialStore: Sendable {
    /// The file's path.
    let path: String

    /// The credentials, nil when nobody is logged in.
    func load() throws -> Credentials? {
        guard let status = FileStatus(path) else {
            if errno == ENOENT { return nil }
            throw FileFailure("read", path)
        }
        if status.permissions & 0o077 != 0 {
            throw Failure(
                .configuration, "'\(path)' is readable by others; run \(ShellWord.command("chmod 600", path))")
        }
        let bytes = try LocalFile.read(path, limit: 1 << 16)
        do {
            return try JSONReader.read(Credentials.self, from: bytes)
        } catch {
            throw Failure(.configuration, "'\(path)' is damaged; run 'byteclub login URL' again")
        }
    }

    /// Stores credentials durably: mode 0600 in a directory of mode 0700.
    func save(_ credentials: Credentials) throws {
        try LocalFile.makePrivateDirectory(LocalFile.parent(of: path))
        try LocalFile.replace(path, with: JSON.bytes(credentials), mode: 0o600)
    }

    /// Forgets the credentials; returns whether there were any.
    func remove() throws -> Bool {
        do { try LocalFile.remove(path) } catch let error as FileFailure where error.code == ENOENT { return false }
        return true
    }
}
