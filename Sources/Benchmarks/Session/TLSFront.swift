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
        try await Program.run(
            openssl,
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=IP:127.0.0.1", "-keyout", root + "/key.pem", "-out", root + "/certificate.pem",
            ]
        ).succeeded()
        let port = 40_000 + Int(getpid()) % 20_000
        let process = try await Nginx.launch(
            nginx, in: root, workers: 1,
            """
            client_body_temp_path \(root)/body;
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
            """)
        return TLSFront(url: "https://127.0.0.1:\(port)", authorityFile: root + "/certificate.pem", process: process)
    }

    func stop() { process.kill9() }
}
