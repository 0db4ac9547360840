/// A command that asks one thing of a mirror's engine, and prints what came of it.
///
/// It works whether or not a sync of the mirror runs.
protocol MirrorRequest: MirrorCommand {
    /// What is printed.
    associatedtype Answer: CommandResult

    /// The mirror as it was named; nil for the one that is meant otherwise.
    var mirror: String? { get }
    /// A path in the mirror that the command is about; nil when it is about none.
    var subject: String? { get }
    /// How the answer is printed.
    var outputOptions: OutputOptions { get }

    /// Asks.
    func answer<Engine: MirrorEngine>(_ engine: Engine.Type, of place: MirrorPlace, _ context: Context) throws -> Answer
}

extension MirrorRequest {
    var subject: String? { nil }

    func run<Engine: MirrorEngine>(in context: Context, with engine: Engine.Type) async throws {
        let place = try MirrorPlace(mirror, around: subject, context)
        try place.requireSynced()
        try context.print(try answer(engine, of: place, context), json: outputOptions.json)
    }
}
