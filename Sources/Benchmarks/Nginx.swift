import Glibc
import TestSupport

/// A WebDAV server to be measured beside: nginx from Debian with its dav modules and two workers.
///
/// It syncs nothing to disk by itself.
struct Nginx: Sendable {
    let root: String
    let url: String
    let port: UInt16
    let process: SpawnedProcess

    /// The module with the methods that rclone asks for.
    private static let listings = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"
    private static var hasListings: Bool { LocalFiles.exists(listings) }

    /// Starts a server that leaves it to the system when bytes go to disk.
    static func start(in folder: String) async throws -> Nginx { try await run(in: makeRoot(folder)) }

    /// Starts a server whose files the file system syncs at each write and each name; nil when it cannot.
    static func startSynced(in folder: String) async throws -> Nginx? {
        let root = makeRoot(folder)
        let marked = try await Program.run("/usr/bin/chattr", ["+SD", root + "/temporary", root + "/files"])
        return marked.status == 0 ? try await run(in: root) : nil
    }

    private static func makeRoot(_ folder: String) -> String {
        let root = folder + "/nginx"
        LocalFiles.makeFolder(root + "/temporary")
        LocalFiles.makeFolder(root + "/files")
        _ = unsafe chmod(folder, 0o755)
        return root
    }

    private static func run(in root: String) async throws -> Nginx {
        guard let program = Program.system("nginx") else {
            throw Stopwatch.Failure(description: "Debian's package nginx-light is missing")
        }
        let port = 20_000 + Int(getpid()) % 20_000
        let process = try await launch(
            program, in: root, workers: 2, modules: hasListings ? "load_module \(listings);" : "",
            """
            sendfile on; client_body_temp_path \(root)/temporary;
            server {
                listen 127.0.0.1:\(port); root \(root)/files;
                dav_methods PUT DELETE MKCOL COPY MOVE; \(hasListings ? "dav_ext_methods PROPFIND OPTIONS;" : "")
                create_full_put_path on;
            }
            """)
        return Nginx(root: root + "/files", url: "http://127.0.0.1:\(port)", port: UInt16(port), process: process)
    }

    /// Starts the program with its files in a folder, and waits until it listens.
    static func launch(
        _ program: String, in root: String, workers: Int, modules: String = "", _ http: String
    ) async throws -> SpawnedProcess {
        try LocalFiles.write(
            """
            \(modules)
            daemon off; worker_processes \(workers); pid \(root)/pid; error_log \(root)/errors crit; user root;
            events { worker_connections 1024; }
            http {
            access_log off; client_max_body_size 0; keepalive_requests 1000000; proxy_temp_path \(root)/proxy;
            fastcgi_temp_path \(root)/fastcgi; uwsgi_temp_path \(root)/uwsgi; scgi_temp_path \(root)/scgi;
            \(http)
            }
            """, to: root + "/nginx.conf")
        let process = try Program.start(
            program, ["-c", root + "/nginx.conf", "-p", root, "-e", root + "/errors"], timeout: .seconds(3600))
        for _ in 0..<500 where !process.hasEnded {
            if LocalFiles.exists(root + "/pid") { return process }
            try await Task.sleep(for: .milliseconds(10))
        }
        process.kill9()
        throw Stopwatch.Failure(description: "nginx does not start: \(await process.result())")
    }

    func stop() { process.kill9() }

    /// As ``stop()``, and waits until the port is free.
    func end() async {
        process.kill9()
        _ = await process.result()
    }
}
