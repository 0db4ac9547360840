/// A command that asks one thing of a mirror's engine, and prints what came of it.
///
/// It works whether or not a sync of the mirror runs.
protocol MirrorRequest: MirrorCommand {
    /// What is printed.
    associatedtype Answer: CommandResult

    /// The mirror as it was named; nil for the one that was synced last.
    var mirror: String? { get }
    /// How the answer is printed.
    var outputOptions: OutputOptions { get }

    /// Asks.
    func answer<Engine: MirrorEngine>(_ engine: Engine.Type, of place: MirrorPlace, _ context: Context) throws -> Answer
}

extension MirrorRequest {
    func run<Engine: MirrorEngine>(in context: Context, with engine: Engine.Type) async throws {
        let place = try MirrorPlace(mirror, context)
        try place.requireSynced()
        try context.print(try answer(engine, of: place, context), json: outputOptions.json)
    }
}
