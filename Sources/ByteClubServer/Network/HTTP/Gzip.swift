internal import CZlib

/// The gzip format (RFC 1952), for content that is compressed once and sent often.
enum Gzip {
    /// The compressed bytes; nil when zlib has no memory for its work.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        // A window of 32 KiB, with the header of gzip.
        let window = MAX_WBITS + 16
        guard
            unsafe deflateInit2_(
                &stream, Z_BEST_COMPRESSION, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { unsafe _ = deflateEnd(&stream) }
        let room = unsafe deflateBound(&stream, uLong(bytes.count))
        var status = Z_OK
        let result = unsafe [UInt8](unsafeUninitializedCapacity: Int(room)) { target, filled in
            unsafe bytes.withUnsafeBufferPointer { source in
                unsafe stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.avail_in = UInt32(source.count)
                unsafe stream.next_out = target.baseAddress
                unsafe stream.avail_out = UInt32(target.count)
                unsafe status = deflate(&stream, Z_FINISH)
            }
            unsafe filled = Int(stream.total_out)
        }
        return status == Z_STREAM_END ? result : nil
    }
}
