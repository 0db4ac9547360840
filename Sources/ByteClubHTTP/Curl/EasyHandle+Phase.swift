import CLibcurl

extension EasyHandle {
    /// How far the transfer came, told from the times libcurl noted; those of a reused connection count as done.
    func phase(isSecure: Bool, isSending: Bool) -> TransferError.Phase {
        if offset(CURLINFO_PRETRANSFER_TIME_T) > 0 { return isSending ? .send : .wait }
        if offset(CURLINFO_CONNECT_TIME_T) > 0 { return isSecure ? .tls : .send }
        return offset(CURLINFO_NAMELOOKUP_TIME_T) > 0 ? .connect : .resolve
    }
}
