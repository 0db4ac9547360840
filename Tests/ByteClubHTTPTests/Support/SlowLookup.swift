import Glibc

/// A library that, preloaded, makes the lookup of names under `slow.test` take half a minute.
final class SlowLookup {
    let library: String
    private let folder = TemporaryFolder()

    static var isPossible: Bool { unsafe access("/usr/bin/cc", X_OK) == 0 }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <netdb.h>
        #include <string.h>
        #include <unistd.h>
        int getaddrinfo(const char *n, const char *s, const struct addrinfo *h, struct addrinfo **r) {
            if (n && strstr(n, "slow.test")) { sleep(30); return EAI_NONAME; }
            int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                dlsym(RTLD_NEXT, "getaddrinfo");
            return next(n, s, h, r);
        }

        """

    init?() {
        library = folder.file("slow.so")
        let source = folder.write("slow.c", Array(Self.source.utf8))
        let made = ChildProcess("/usr/bin/cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"])
        guard made?.wait() == 0 else { return nil }
    }

    /// Runs tests of this very program in another process, with the library preloaded; its exit status.
    func run(filter: String) -> Int32? {
        ChildProcess(running: filter, ["LD_PRELOAD=\(library)", "BYTECLUB_SLOW_LOOKUP=1"])?.wait()
    }
}
