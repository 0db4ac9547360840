/// A command about a mirror.
///
/// A program without an engine becomes the one that has it.
protocol MirrorCommand: ClubCommand {
    /// Does the work with an engine.
    func run<Engine: MirrorEngine>(in context: Context, with engine: Engine.Type) async throws
}

extension MirrorCommand {
    func run(in context: Context) async throws { try await runWithEngine(in: context) }

    /// Does the work with the program's engine, or becomes the program that has one.
    func runWithEngine(in context: Context) async throws {
        guard let engine = context.engine else { try SiblingProgram.mirror.become(context.arguments, context) }
        try await run(in: context, with: engine)
    }
}
