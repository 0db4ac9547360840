/// A request's body that is held whole, with the memory that it takes.
struct HeldBody: Sendable {
    /// The bytes.
    let bytes: [UInt8]
    /// Their memory, given back with the last copy of this.
    let lease: FairSemaphore.Lease
}
