import ArgumentParser
import ByteClubCore

/// The kinds of photos that a list has.
struct PhotoKindFilter: Sendable, Hashable, ExpressibleByArgument {
    /// The words, for the help.
    static let words = PhotoShape.Kind.allCases.map(\.rawValue).joined(separator: ", ")

    /// The kinds.
    var kinds: Set<PhotoShape.Kind>

    /// Reads kinds separated by commas.
    init?(argument: String) {
        let kinds = argument.split(separator: ",").map { PhotoShape.Kind(rawValue: String($0)) }
        guard !kinds.isEmpty, !kinds.contains(nil) else { return nil }
        self.kinds = Set(kinds.compactMap { $0 })
    }

    /// The photos of these kinds, and how many are still to be looked at.
    ///
    /// - Throws: A ``Failure`` when the server tells no photo's kind.
    func filter(_ photos: [Metadata]) throws -> (photos: [Metadata], pending: Int) {
        let pending = photos.filter { $0.photoInfo?.isPending == true }.count
        let files = photos.filter { !$0.isFolder }
        if !files.isEmpty, files.allSatisfy({ $0.photoInfo == nil }) {
            throw Failure(.unavailable, "this server does not tell what kind of picture a photo is; leave --kind out")
        }
        return (photos.filter { $0.photoInfo?.shape.map { kinds.contains($0.kind) } ?? false }, pending)
    }
}
