import Glibc

/// An nginx that speaks TLS and HTTP/2 and hands every request on to a plain server, body unbuffered.
final class Nginx {
    let port: Int
    let authorityFile: String
    /// The private key of its certificate.
    var keyFile: String { folder.file("key.pem") }
    /// Its public key as libcurl pins it.
    let pin: String
    private let folder = TemporaryFolder()
    private var process: ChildProcess?

    static var isInstalled: Bool {
        unsafe access("/usr/sbin/nginx", X_OK) == 0 && access("/usr/bin/openssl", X_OK) == 0
    }

    init?(before backend: FaultServer, protocols: String = "TLSv1.2") {
        authorityFile = folder.file("cert.pem")
        let made = ChildProcess(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                folder.file("key.pem"), "-out", authorityFile,
            ])
        let hashing = """
            /usr/bin/openssl x509 -in \(authorityFile) -pubkey -noout | /usr/bin/openssl pkey -pubin -outform der \
            | /usr/bin/openssl dgst -sha256 -binary | /usr/bin/openssl base64 -A >\(folder.file("pin"))
            """
        guard made?.wait() == 0, ChildProcess("/bin/sh", ["-c", hashing])?.wait() == 0, let port = Self.freePort()
        else { return nil }
        pin = "sha256//" + String(decoding: folder.read("pin") ?? [], as: UTF8.self)
        self.port = port
        _ = folder.write("nginx.conf", Array(Self.configuration(folder.path, port, backend.port, protocols).utf8))
        let arguments = ["-p", folder.path, "-c", folder.file("nginx.conf"), "-e", folder.file("error.log")]
        process = ChildProcess("/usr/sbin/nginx", arguments)
        for _ in 0..<3000 {
            if Self.isListening(port) { return }
            usleep(10_000)
        }
        return nil
    }

    deinit {
        process?.terminate()
        _ = process?.wait()
    }

    var authority: String { "localhost:\(port)" }

    private static func configuration(_ folder: String, _ port: Int, _ backend: Int, _ protocols: String) -> String {
        """
        daemon off; worker_processes 1; pid \(folder)/pid; user root;
        events { worker_connections 64; }
        http {
            access_log off; client_max_body_size 0; client_body_temp_path \(folder); proxy_temp_path \(folder);
            fastcgi_temp_path \(folder); uwsgi_temp_path \(folder); scgi_temp_path \(folder);
            server {
                listen 127.0.0.1:\(port) ssl http2; ssl_protocols \(protocols);
                ssl_certificate \(folder)/cert.pem; ssl_certificate_key \(folder)/key.pem;
                ssl_client_certificate \(folder)/cert.pem; ssl_verify_client optional;
                location / {
                    proxy_pass http://127.0.0.1:\(backend); proxy_http_version 1.1; proxy_request_buffering off;
                    proxy_set_header X-Version $server_protocol; proxy_set_header X-Reused $ssl_session_reused;
                    proxy_set_header X-Client $ssl_client_verify;
                }
            }
        }
        """
    }

    private static func freePort() -> Int? {
        let server = try? FaultServer { _, _ in .close }
        defer { server?.stop() }
        return server?.port
    }

    private static func isListening(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
