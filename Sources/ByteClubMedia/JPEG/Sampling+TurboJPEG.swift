internal import CTurboJPEG

extension YCbCrPicture.Sampling {
    /// The library's name for it.
    var turboJPEG: TJSAMP {
        switch self {
        case .full: TJSAMP_444
        case .halfAcross: TJSAMP_422
        case .halfDown: TJSAMP_440
        case .half: TJSAMP_420
        case .quarterAcross: TJSAMP_411
        }
    }
}
