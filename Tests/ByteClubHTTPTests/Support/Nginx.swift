import Glibc

/// An nginx that speaks TLS and HTTP/2 and hands every request on to a plain server, body unbuffered.
///
/// Its certificate is for `localhost` and `club.test`.
final class Nginx {
    let port: Int
    let authorityFile: String
    /// The bytes of that file.
    let authorities: [UInt8]
    /// Its certificate in DER, followed by its issuer's if that is another one.
    let certificates: [[UInt8]]
    /// The private key of its certificate.
    var keyFile: String { folder.file("key.pem") }
    /// Its public key as libcurl pins it.
    let pin: String
    private let folder = TemporaryFolder()
    private let process: ChildProcess

    static var isInstalled: Bool {
        unsafe access("/usr/sbin/nginx", X_OK) == 0 && access("/usr/bin/openssl", X_OK) == 0
    }

    /// Starts one; `isIssued` for a certificate that an authority issued, sent with another that has nothing to do with it.
    init?(before backend: FaultServer, protocols: String = "TLSv1.2", isIssued: Bool = false) {
        let authority = isIssued ? "ca.pem" : "cert.pem"
        authorityFile = folder.file(authority)
        let making = """
            set -e; cd \(folder.path); exec 2>/dev/null
            make() { name=$1; subject=$2; shift 2; /usr/bin/openssl req -x509 -newkey ec \
            -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=$subject -keyout $name.key -out $name.pem "$@"; }
            names="-addext subjectAltName=DNS:localhost,DNS:club.test,IP:127.0.0.1"
            if \(isIssued); then
                make ca authority; make other other
                make cert localhost $names -addext basicConstraints=critical,CA:FALSE -CA ca.pem -CAkey ca.key
                cat cert.pem other.pem >chain.pem
            else
                make cert localhost $names; cp cert.pem chain.pem
            fi
            mv cert.key key.pem
            for name in cert ca; do
                if test -f $name.pem; then /usr/bin/openssl x509 -in $name.pem -outform der -out $name.der; fi
            done
            /usr/bin/openssl x509 -in cert.pem -pubkey -noout | /usr/bin/openssl pkey -pubin -outform der \
            | /usr/bin/openssl dgst -sha256 -binary | /usr/bin/openssl base64 -A >pin
            """
        guard ChildProcess("/bin/sh", ["-c", making])?.wait() == 0,
            let running = Self.start(in: folder, before: backend.port, protocols)
        else { return nil }
        (port, process) = running
        authorities = folder.read(authority) ?? []
        certificates = ["cert.der", "ca.der"].compactMap { [folder] in folder.read($0) }
        pin = "sha256//" + String(decoding: folder.read("pin") ?? [], as: UTF8.self)
    }

    deinit {
        process.terminate()
        _ = process.wait()
    }

    var authority: String { "localhost:\(port)" }

    /// Starts nginx on a free port, and returns when it listens.
    private static func start(
        in folder: TemporaryFolder, before backend: Int, _ protocols: String
    ) -> (port: Int, ChildProcess)? {
        let arguments = ["-p", folder.path, "-c", folder.file("nginx.conf"), "-e", folder.file("error.log")]
        for _ in 0..<5 {
            guard let port = freePort() else { return nil }
            _ = folder.write("nginx.conf", Array(configuration(folder.path, port, backend, protocols).utf8))
            guard let process = ChildProcess("/usr/sbin/nginx", arguments) else { return nil }
            // It ends if something else has taken the port.
            while !process.hasEnded {
                // It writes this file when it listens.
                if unsafe access(folder.file("pid"), F_OK) == 0 { return (port, process) }
                usleep(10_000)
            }
        }
        return nil
    }

    private static func configuration(_ folder: String, _ port: Int, _ backend: Int, _ protocols: String) -> String {
        """
        daemon off; worker_processes 1; pid \(folder)/pid; user root;
        events { worker_connections 64; }
        http {
            access_log off; client_max_body_size 0; client_body_temp_path \(folder); proxy_temp_path \(folder);
            fastcgi_temp_path \(folder); uwsgi_temp_path \(folder); scgi_temp_path \(folder);
            server {
                listen 127.0.0.1:\(port) ssl http2; ssl_protocols \(protocols);
                ssl_certificate \(folder)/chain.pem; ssl_certificate_key \(folder)/key.pem;
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
}
