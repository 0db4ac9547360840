/// Files that editors and browsers keep beside what somebody is working on: they stay on the machine by default.
///
/// Only names that no member gives to a note are among them, and no folder is: what Nextcloud leaves out, without what
/// is a name like any other (vim's `4913` is gone in a moment). A line such as `!*~` in the ignore file takes them in.
enum TemporaryFiles {
    /// The patterns, as in an ignore file; those of ``NameRules/isIgnored(_:)`` are refused by servers as well.
    static let patterns: [IgnorePattern] =
        [
            // vim and nano: swap files, with those of files without a name, and vim's probe for long names.
            ".*.sw[j-px]", ".*.swpx", ".sw[op]",
            // Emacs, Kate and GNOME.
            "*~", "\\#*#", ".#*", ".*.kate-swp", ".goutputstream-*",
            // Files that were deleted while a program had them open.
            ".fuse_hidden*", ".nfs0*",
        ].compactMap { IgnorePattern(fileName: $0[...]) } + downloads.compactMap { IgnorePattern(fileName: "*\($0)") }

    /// The ends of the names of downloads on their way.
    private static let downloads = [".part", ".filepart", ".crdownload"]

    /// Whether a file has the name that a file system gives to one that was deleted while a program had it open.
    static func isDeleted(_ name: String) -> Bool { name.hasPrefix(".fuse_hidden") || name.hasPrefix(".nfs0") }

    /// A quick check of a folded name, which is right when it says no.
    static func mayHold(_ name: Substring.UTF8View) -> Bool {
        switch (name.first, name.last) {
        case (UInt8(ascii: ".")?, _), (_, UInt8(ascii: "~")?), (_, UInt8(ascii: "#")?): true
        default: downloads.contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
        }
    }
}
