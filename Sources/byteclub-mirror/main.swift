public import ByteClubCLI
public import ByteClubSync

extension SyncEngine: MirrorEngine {}

await ByteClub.main(engine: SyncEngine.self)
