public import ByteClubCLI
public import ByteClubSync

extension SyncEngine: MirrorEngine {}

ByteClub.main(engine: SyncEngine.self)
