import ByteClubMedia
import TestSupport

/// Makes thumbnails or renditions of photos in a separate process, for its time and memory.
///
/// `SIZE DIR FILE...` writes a thumbnail of each file under its name to the folder; `SIZE,SIZE... DIR FILE...` makes
/// all sizes from one decoding, and writes them under size and name.
enum Pictures {
    /// - Returns: 0, or 65 with one line about the reason when a photo is refused.
    static func run(_ arguments: [String]) throws -> Int32 {
        let sizes = (arguments.first ?? "").split(separator: ",").compactMap { Int($0) }
        guard let size = sizes.first, arguments.count > 2 else {
            throw Settings.UsageError(description: "usage: pictures SIZE[,SIZE...] DIR FILE...")
        }
        do {
            for file in arguments.dropFirst(2) {
                let name = file.split(separator: "/").last.map(String.init) ?? file
                if sizes.count > 1 {
                    for (size, bytes) in try Renditions.make(file: file, sizes: sizes) {
                        try LocalFiles.write(bytes, to: "\(arguments[1])/\(size)-\(name)")
                    }
                } else {
                    let bytes = try Thumbnail.make(file: file, width: size, height: size, format: .jpeg)
                    try LocalFiles.write(bytes, to: "\(arguments[1])/\(name)")
                }
            }
            return 0
        } catch let error as MediaError {
            print(error)
            return 65
        }
    }
}
