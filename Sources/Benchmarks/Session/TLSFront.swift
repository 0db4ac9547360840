import Glibc
import TestSupport

/// An nginx that speaks TLS 1.3 and HTTP/2 and hands requests on to a ``Sink``, bodies unbuffered.
///
/// It answers `/close` itself and closes the connection after that.
struct TLSFront: Sendable {
    let url: String
    let authorityFile: String
    private let process: SpawnedProcess

    /// Starts it with a certificate of its own; nil where nginx or openssl is not installed.
    static func start(before backend: String, in folder: String) async throws -> TLSFront? {
        guard let nginx = Program.system("nginx"), let openssl = Program.system("openssl") else { return nil }
        let root = folder + "/tls"
        LocalFiles.makeFolder(root)
        let made = try await Program.run(
            openssl,
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=IP:127.0.0.1", "-keyout", root + "/key.pem", "-out", root + "/certificate.pem",
            ])
        guard made.status == 0 else { throw Stopwatch.Failure(description: "\(made)") }
        let port = 40_000 + Int(getpid()) % 20_000
        try LocalFiles.write(
            """
            daemon off; worker_processes 1; pid \(root)/pid; error_log \(root)/errors crit; user root;
            events { worker_connections 256; }
            http {
                access_log off; client_max_body_size 0; keepalive_requests 1000000;
                client_body_temp_path \(root)/body; proxy_temp_path \(root)/proxy;
                fastcgi_temp_path \(root)/fastcgi; uwsgi_temp_path \(root)/uwsgi; scgi_temp_path \(root)/scgi;
                upstream sink { server \(backend.dropFirst("http://".count)); keepalive 8; keepalive_requests 1000000; }
                server {
                    listen 127.0.0.1:\(port) ssl http2; ssl_protocols TLSv1.3;
                    ssl_certificate \(root)/certificate.pem; ssl_certificate_key \(root)/key.pem;
                    location / {
                        proxy_pass http://sink; proxy_http_version 1.1; proxy_set_header Connection "";
                        proxy_request_buffering off; client_body_buffer_size 256k;
                    }
                    location /close { keepalive_timeout 0; return 204; }
                }
            }
            """, to: root + "/nginx.conf")
        let process = try Program.start(
            nginx, ["-c", root + "/nginx.conf", "-p", root, "-e", root + "/errors"], timeout: .seconds(3600))
        for _ in 0..<500 where !process.hasEnded {
            if LocalFiles.exists(root + "/pid") {
                return TLSFront(
                    url: "https://127.0.0.1:\(port)", authorityFile: root + "/certificate.pem", process: process)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        process.kill9()
        throw Stopwatch.Failure(description: "nginx does not start: \(await process.result())")
    }

    func stop() { process.kill9() }
}
